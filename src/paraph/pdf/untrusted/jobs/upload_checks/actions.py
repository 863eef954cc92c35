"""Counting scripts and actions, and checking what streams unpack to, in one walk over the objects of a file."""

import re
from collections.abc import Mapping

import pikepdf

from paraph.pdf.untrusted.jobs.upload_checks.expansion import Expansion

# qpdf writes names without escapes, so /J#61vaScript matches too, and sorts the keys of dictionaries
_COUNTED = {
    "scripts": re.compile(rb"/S /JavaScript\b|/JS\b(?:(?!>>|/S ).)*/S /Rendition\b", re.DOTALL),
    "launch_actions": re.compile(rb"/S /Launch\b"),
    "submit_actions": re.compile(rb"/S /(?:SubmitForm|ImportData)\b"),
    "attachments": re.compile(rb"/EF <<"),
}
NO_ACTIONS = dict.fromkeys(_COUNTED, 0)


_NOTHING_ELSE: dict[str, re.Pattern[bytes]] = {}


def count_actions(document: pikepdf.Pdf, also: Mapping[str, re.Pattern[bytes]] = _NOTHING_ELSE) -> dict[str, int]:
    """Return the number of ``scripts``, ``launch_actions``, ``submit_actions``, ``attachments``, and of each
    ``also`` pattern. Raises PdfRefused ``too_complex`` for a decompression bomb."""
    patterns = {**_COUNTED, **also}
    counts = dict.fromkeys(patterns, 0)
    expansion = Expansion()
    for item in document.objects:
        if isinstance(item, pikepdf.Stream):
            expansion.check(item, item.get_raw_stream_buffer())
            text = item.stream_dict.unparse(resolved=True)
        elif isinstance(item, pikepdf.Dictionary | pikepdf.Array):
            text = item.unparse(resolved=True)
        else:
            continue
        for name, pattern in patterns.items():
            counts[name] += len(pattern.findall(text))
    return counts
