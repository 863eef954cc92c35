"""Who belongs to an organization, and who is invited to it."""
