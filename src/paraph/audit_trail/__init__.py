"""The audit journal of a request: append-only, each entry carrying the hash of the one before it."""
