"""What a file can do by itself: its scripts and actions, counted in one walk over its objects, and what they change."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import pikepdf

from paraph.pdf.untrusted.jobs.page_pictures import LAYER_NAMES as LAYERS
from paraph.pdf.untrusted.jobs.page_pictures import Annotation, page_annotations
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.expansion import Expansion
from paraph.pdf.untrusted.jobs.upload_checks.print_comparison import NO_DIFFERENCE, compare_print

# qpdf writes names without escapes, so /J#61vaScript matches too, and sorts the keys of dictionaries
_TURNING_PAGES = rb"/N /(?:NextPage|PrevPage|FirstPage|LastPage) (?:/Next \d+ \d+ R )?/S /Named\b"
_COUNTED = {
    "named": re.compile(rb"/S /Named\b"),
    "turning_pages": re.compile(_TURNING_PAGES),
    "changing": re.compile(rb"/S /(?:ResetForm|Hide|SetOCGState)\b|/AA (?:<< /|\d)"),
    "layers": re.compile(rb"/Type /OCG\b|/OCGs (?:\[ \d|\d)"),
    "layer_names": LAYERS,
    "media": re.compile(
        rb"/Subtype /(?:Movie|Screen|Sound|3D|RichMedia)\b|/S /(?:Rendition|Movie|Sound|GoTo3DView|RichMediaExecute)\b"
    ),
    "for_printers": re.compile(rb"/DefaultForPrinting true|/Subtype2? /PS\b"),
}
_NONE_COUNTED = dict.fromkeys(_COUNTED, 0)
_ACTIONS = {
    "scripts": re.compile(rb"/S /JavaScript\b|/JS\b(?:(?!>>|/S ).)*/S /Rendition\b", re.DOTALL),
    "launch_actions": re.compile(rb"/S /Launch\b"),
    "submit_actions": re.compile(rb"/S /(?:SubmitForm|ImportData)\b"),
    "attachments": re.compile(rb"/EF <<"),
}
NO_ACTIONS = dict.fromkeys(_ACTIONS, 0)
NO_BEHAVIOUR: dict[str, Any] = {**NO_ACTIONS, **NO_DIFFERENCE, "can_change": []}
"""The result for a file that contains no name of interest."""
_NOTHING_ELSE: dict[str, re.Pattern[bytes]] = {}


def read_behaviour(file: UntrustedFile, *, passive: bool) -> dict[str, Any]:
    """Return the counts of actions, ``prints_differently``, ``print_unknown`` and ``can_change`` of the preflight
    report. ``passive``: the file as it is written contains no name of interest, so only its annotations are examined,
    unless qpdf has to repair it. Raise PdfRefused ``too_complex`` for a decompression bomb."""
    document, none_counted = file.pikepdf(), passive and file.is_read_as_written()
    counts = {**NO_ACTIONS, **_NONE_COUNTED} if none_counted else count_actions(document, also=_COUNTED)
    by_page = [list(page_annotations(page)) for page in document.pages]
    return {
        **{name: counts[name] for name in NO_ACTIONS},
        **compare_print(file, by_page, layered=counts["layer_names"] > 0),
        "can_change": _words(document, counts, chain.from_iterable(by_page)),
    }


def _words(document: pikepdf.Pdf, counts: Mapping[str, int], shown: Iterable[Annotation]) -> list[str]:
    drawn = [annotation for annotation in shown if annotation.draws]
    acts = counts["launch_actions"] + counts["submit_actions"] + counts["changing"]
    found = {
        "scripts": counts["scripts"] > 0,
        "actions": acts > 0 or counts["named"] > counts["turning_pages"] or _acts_when_opened(document),
        "layers": counts["layers"] > 0,
        "media": counts["media"] > 0,
        "xfa_form": "/XFA" in _dictionary(document.Root.get("/AcroForm")),
        "hover_annotations": any(annotation.switches for annotation in drawn),
        "screen_only_annotations": any(each.on_screen and not each.in_print for each in drawn),
        "print_only_annotations": any(each.in_print and not each.on_screen for each in drawn),
        "print_only_contents": counts["for_printers"] > 0,
    }
    return [word for word, is_there in found.items() if is_there]


def _acts_when_opened(document: pikepdf.Pdf) -> bool:
    """Return whether opening the file does more than turn to a page. Scripts are counted separately."""
    action = _dictionary(document.Root.get("/OpenAction"))
    return bool(action) and (action.get("/S") not in ("/GoTo", "/JavaScript") or "/Next" in action)


def _dictionary(value: Any) -> Any:
    return value if isinstance(value, pikepdf.Dictionary) else {}


def count_actions(document: pikepdf.Pdf, also: Mapping[str, re.Pattern[bytes]] = _NOTHING_ELSE) -> dict[str, int]:
    """Return the number of ``scripts``, ``launch_actions``, ``submit_actions``, ``attachments``, and of each
    ``also`` pattern. Raise PdfRefused ``too_complex`` for a decompression bomb."""
    patterns = {**_ACTIONS, **also}
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
