"""The activity log: what members and operators did with an organization, in rows that only grow."""
