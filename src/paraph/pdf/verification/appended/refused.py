"""The refusal of something that was appended to a sealed file."""


class NotPermitted(Exception):
    """What was appended is not known to be harmless. The message completes "From byte N on, …"."""
