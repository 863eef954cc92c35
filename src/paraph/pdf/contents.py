"""Whether what a page draws leaves the graphics state as it found it (ISO 32000-1, 8.4.2).

A ``q`` without its ``Q`` would displace whatever is drawn after it. A ``Q`` without its ``q`` is ignored by
viewers, but would undo the ``q`` that is put before the page's contents.
"""

import re
from operator import lt

# A letter as a word of its own. That they begin with a letter, not with what must not be before it, makes them quick.
_OPENS = re.compile(rb"q(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])(?<![^\x00\t\n\x0c\r ()<>\[\]{}/%]q)")
_CLOSES = re.compile(rb"Q(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])(?<![^\x00\t\n\x0c\r ()<>\[\]{}/%]Q)")
_SKIPPED = re.compile(
    rb"(?P<operator>(?<![^\x00\t\n\x0c\r ()<>\[\]{}])[qQ](?![^\x00\t\n\x0c\r ()<>\[\]{}/%]))"
    rb"|(?P<string>\()"
    rb"|%[^\r\n]*"
    rb"|<[0-9A-Fa-f\x00\t\n\x0c\r ]*+>"
    rb"|(?P<image>(?<![^\x00\t\n\x0c\r ])BI(?=[\x00\t\n\x0c\r /]))"
)
_IMAGE_DATA = re.compile(rb"[\x00\t\n\x0c\r ]ID[\x00\t\n\x0c\r ]")
_IMAGE_END = re.compile(rb"[\x00\t\n\x0c\r ]EI(?![^\x00\t\n\x0c\r ])")
_IN_STRING = re.compile(rb"[()\\]")


def unclosed(contents: bytes) -> tuple[int, list[int]]:
    """How many ``q`` stay open at the end, and where each ``Q`` stands that closes nothing.

    ``contents`` are all streams of the page, decoded and joined by white space. Contents whose letters q and Q
    pair up at first sight are not parsed: a string or an inline image would have to imitate just the missing
    operator to hide it.
    """
    opened = [match.start() for match in _OPENS.finditer(contents)]
    closed = [match.start() for match in _CLOSES.finditer(contents)]
    # Balanced when the n-th Q comes after the n-th q, for each n.
    pairs_up = len(opened) == len(closed) and all(map(lt, opened, closed))
    return (0, []) if pairs_up else _parsed(contents)


def _parsed(contents: bytes) -> tuple[int, list[int]]:
    depth, extra, position, images = 0, [], 0, True
    while match := _SKIPPED.search(contents, position):
        position = match.end()
        if match.lastgroup == "string":
            position = _string_end(contents, position)
        elif match.lastgroup == "image" and images:
            end = _image_end(contents, position)
            images, position = end is not None, end or position  # without an end from here, there is none later
        elif match.lastgroup == "operator":
            if match[0] == b"q":
                depth += 1
            elif depth:
                depth -= 1
            else:
                extra.append(match.start())
    return depth, extra


def _image_end(contents: bytes, position: int) -> int | None:
    """Where the inline image that begins there ends; None for one without data or end."""
    data = _IMAGE_DATA.search(contents, position)
    end = _IMAGE_END.search(contents, data.end() - 1) if data else None
    return end.end() if end else None


def _string_end(contents: bytes, position: int) -> int:
    depth = 1
    while depth:
        match = _IN_STRING.search(contents, position)
        if match is None:
            return len(contents)
        position = match.end()
        if match[0] == b"\\":
            position += 1
        else:
            depth += 1 if match[0] == b"(" else -1
    return position
