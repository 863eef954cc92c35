"""/ToUnicode: which characters the codes of a font stand for."""

from collections.abc import Sequence


def unicode_map(characters: Sequence[str], *, first: int) -> bytes:
    """One byte for each of ``characters``, from the code ``first`` on."""
    lines = [f"<{code:02x}> <{text.encode('utf-16-be').hex()}>" for code, text in enumerate(characters, first)]
    parts = ["/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Test def"]
    parts += ["1 begincodespacerange <00> <ff> endcodespacerange", f"{len(lines)} beginbfchar", *lines, "endbfchar"]
    return "\n".join([*parts, "endcmap end end"]).encode()
