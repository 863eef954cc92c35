"""The exception of sealing."""


class SealError(Exception):
    """A file cannot be sealed, or the result does not pass its check. The message is one sentence for people."""
