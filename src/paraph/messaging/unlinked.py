"""Making texts that a sender chose, such as names, safe in a mail: short, on one line, and without anything that a mail
program turns into a link (docs/decisions/messages.md)."""

import re

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\\s]+")
# Characters that are invisible or change the direction of text, and so can hide another text.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_DOTS, _COLONS, _SLASHES, _ATS = ".\u2024\u3002\ufe52\uff0e\uff61", ":\ufe55\uff1a", "/\\\\\uff0f", "@\ufe6b\uff20"
_MARKS = f"[{_DOTS}{_COLONS}{_SLASHES}{_ATS}]"
_JOINERS = re.compile(f"(?<={_MARKS})[\u200c\u200d]+|[\u200c\u200d]+(?={_MARKS})")  # they have a meaning within words
_SCHEME = re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*[{_COLONS}][{_SLASHES}]{{2,}}")
_COLON = re.compile(rf"(?<=[A-Za-z])([{_COLONS}])(?=\S)")
_AT = re.compile(f" ?[{_ATS}] ?")
# A last label has two letters at least: "J.R. Smith" and "e.V." are no domains.
_DOT = re.compile(rf"(?<=\S)([{_DOTS}])(?=[^\W\d_][^\s{_DOTS}])")
_NUMBERS = re.compile(rf"\d+(?:[{_DOTS}]\d+){{3,}}")


def unlinked(text: str, max_length: int) -> str:
    """Return the text on one line of at most ``max_length`` characters.

    Spaces break up addresses: after the dot before a letter, after a colon, around an ``@``. Schemes such as
    ``https://`` are removed.
    """
    line = _HIDDEN.sub("", _BREAKS.sub(" ", text))
    line = _COLON.sub(r"\1 ", _SCHEME.sub(" ", _JOINERS.sub("", line)))
    line = _DOT.sub(r"\1 ", _AT.sub(" @ ", line))
    line = _NUMBERS.sub(lambda match: re.sub(rf"([{_DOTS}])", r"\1 ", match[0]), line)
    line = " ".join(line.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"
