"""Whether what a page draws leaves the graphics state as it found it (ISO 32000-1, 8.4.2).

A ``q`` without its ``Q`` would displace whatever is drawn after it. A ``Q`` without its ``q`` is ignored by
viewers, but would undo the ``q`` that is put before the page's contents.
"""

import re

_CANDIDATE = re.compile(rb"[qQ](?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_BEFORE = frozenset(b"\x00\t\n\x0c\r ()<>[]{}")
_SKIPPED = re.compile(
    rb"(?P<operator>(?<![^\x00\t\n\x0c\r ()<>\[\]{}])[qQ](?![^\x00\t\n\x0c\r ()<>\[\]{}/%]))"
    rb"|(?P<string>\()"
    rb"|%[^\r\n]*"
    rb"|<[0-9A-Fa-f\x00\t\n\x0c\r ]*>"
    rb"|(?<![^\x00\t\n\x0c\r ])BI(?=[\x00\t\n\x0c\r /]).*?[\x00\t\n\x0c\r ]ID[\x00\t\n\x0c\r ]"
    rb".*?[\x00\t\n\x0c\r ]EI(?![^\x00\t\n\x0c\r ])",
    re.DOTALL,
)
_IN_STRING = re.compile(rb"[()\\]")


def unclosed(contents: bytes) -> tuple[int, list[int]]:
    """How many ``q`` stay open at the end, and where each ``Q`` stands that closes nothing.

    ``contents`` are all streams of the page, decoded and joined by white space. Contents whose letters q and Q
    pair up at first sight are not parsed: a string or an inline image would have to imitate just the missing
    operator to hide it.
    """
    depth = 0
    for match in _CANDIDATE.finditer(contents):
        start = match.start()
        if start and contents[start - 1] not in _BEFORE:
            continue
        depth += 1 if match[0] == b"q" else -1
        if depth < 0:
            return _parsed(contents)
    return (0, []) if depth == 0 else _parsed(contents)


def _parsed(contents: bytes) -> tuple[int, list[int]]:
    depth, extra, position = 0, [], 0
    while match := _SKIPPED.search(contents, position):
        position = match.end()
        if match.lastgroup == "string":
            position = _string_end(contents, position)
        elif match.lastgroup == "operator":
            if match[0] == b"q":
                depth += 1
            elif depth:
                depth -= 1
            else:
                extra.append(match.start())
    return depth, extra


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
