"""What sealing raises at its boundary."""


class SealError(Exception):
    """A file cannot be sealed, or what came out does not validate. The message is one sentence for people."""
