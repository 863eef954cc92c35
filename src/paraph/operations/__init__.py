"""What operators need to know and do: checks, the state of one request, its retry, the figures of the service."""
