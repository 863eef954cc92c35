"""People: accounts, their memberships and roles in organizations, invitations."""
