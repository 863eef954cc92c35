"""Whose signature the lines of a document wait for."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from paraph.drafts.models import DraftSigner
from paraph.pdf.untrusted.page_reading import SignatureLine


class Wanted(NamedTuple):
    """A line on which the signer is to sign; ``is_clear``: their name stands there, or there is but one line and one
    signer; else the order of the lines tells."""

    line: SignatureLine
    signer: DraftSigner
    is_clear: bool


def wanted(lines: Sequence[SignatureLine], signers: Sequence[DraftSigner]) -> list[Wanted]:
    """Return the lines that wait for a signature, each with the signer.

    Where no name stands there, lines with the same words are of one signer, in the signers' order; where all lines have
    the same words, they go through the signers in turn. Those with a name on another line come last.
    """
    if not signers:
        return []
    named = {line: _named(line, signers) for line in lines}
    open_lines = [line for line, signer in named.items() if line.is_for_signature and signer is None]
    others = [signer for signer in signers if signer not in named.values()] or list(signers)
    labels = list(dict.fromkeys(line.label.casefold() for line in open_lines))
    turns = {
        line: labels.index(line.label.casefold()) if len(labels) > 1 else turn for turn, line in enumerate(open_lines)
    }
    found = []
    for line, signer in named.items():
        if signer:
            found.append(Wanted(line, signer, is_clear=True))
        elif line in turns:
            is_clear = len(signers) == 1 == len(turns)
            found.append(Wanted(line, others[turns[line] % len(others)], is_clear))
    return found


def _named(line: SignatureLine, signers: Sequence[DraftSigner]) -> DraftSigner | None:
    """Return the signer whose last name stands in the nearest words that have any; where nothing says what the line is
    for, the whole name has to be its label."""
    parts = [(_words(each.first_name), _words(each.last_name)) for each in signers]
    if not line.is_for_signature:
        whole = [
            signer for signer, (first, last) in zip(signers, parts, strict=True) if _words(line.label) == first | last
        ]
        return whole[0] if len(whole) == 1 else None
    for told in (line.label, *line.about.split(" / ")):
        words = _words(told)
        counts = [len(words & (first | last)) if words & last else 0 for first, last in parts]
        if max(counts):
            return signers[counts.index(max(counts))] if counts.count(max(counts)) == 1 else None
    return None


def _words(text: str) -> set[str]:
    bare = unicodedata.normalize("NFKD", text.casefold())
    return set(re.findall(r"\w+", "".join(each for each in bare if not unicodedata.combining(each))))
