"""Templates: finished drafts, kept with their places and roles, and bulk sends of them to many signers."""
