"""The activity log: what members and operators did with an organization, in one append-only chain of hashes each."""
