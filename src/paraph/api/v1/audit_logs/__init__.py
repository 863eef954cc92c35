"""The audit log of a request."""
