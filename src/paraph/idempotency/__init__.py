"""Idempotency keys: the same call again finds what it made, and makes nothing twice."""
