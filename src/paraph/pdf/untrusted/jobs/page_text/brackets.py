"""Brackets that face what they enclose, whichever way a file names them.

In right-to-left text a file names a bracket as it is meant or as it is shown, and PDFium turns some of them.
"""

from collections import Counter
from collections.abc import Sequence

from paraph.pdf.untrusted.jobs.page_text.bidi import PAIRS

_PAIR_OF = {bracket: pair for pair in (*PAIRS, "\u00ab\u00bb", "\u2039\u203a") for bracket in pair}


def facing(texts: Sequence[str]) -> list[str]:
    """Return the characters of a line in reading order, its brackets turned to what stands beside them: at the start
    of a word they open, at its end they close, within it they close what is open."""
    starts = _after_space(texts)
    ends = _after_space(texts[::-1])[::-1]
    still_open: Counter[str] = Counter()
    turned = []
    for text, start, end in zip(texts, starts, ends, strict=True):
        pair = _PAIR_OF.get(text)
        if pair is not None:
            closes = end if start != end else still_open[pair] > 0
            still_open[pair] += -1 if closes and still_open[pair] else 0 if closes else 1
            turned.append(pair[1] if closes else pair[0])
        else:
            turned.append(text)
    return turned


def _after_space(texts: Sequence[str]) -> list[bool]:
    """Whether each character follows white space or the start of the line, brackets between them left out."""
    after, answers = True, []
    for text in texts:
        answers.append(after)
        after = after if text in _PAIR_OF else not text.strip()
    return answers
