"""A code as people enter it."""

import unicodedata


def six_digits(text: str) -> str:
    """The six digits of a code out of whatever was pasted: "244 283", "244-283", "Code: 244283", digits of any script.
    Text without exactly six digits comes back without its spaces, and is no code."""
    digits = "".join(str(unicodedata.digit(letter)) for letter in text if letter.isdecimal())
    return digits if len(digits) == 6 else "".join(text.split())
