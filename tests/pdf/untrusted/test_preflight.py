"""Whatever can change what is shown is told, wherever it is attached, and so are the pages that print differently, for
whatever reason."""

from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import chain, count
from types import SimpleNamespace
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import ImageChops

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.inspect_job import inspect as inspect_here
from paraph.pdf.untrusted.jobs.page_pictures import Annotation
from paraph.pdf.untrusted.jobs.upload_checks import preflight as report
from paraph.pdf.untrusted.page_reading import render_page, render_printed_page
from paraph.pdf.untrusted.passive import NO_BEHAVIOUR
from tests.pdf import changing
from tests.pdf.changing import NO_VIEW, PRINT, PRINT_OFF, PRINT_ON, SCRIPT, TOGGLE_NO_VIEW
from tests.pdf.pdf_factory import Stream, paper, text
from tests.pdf.structures import a_file_of_each_structure
from tests.pdf.untrusted.test_fast_scan import many, passive_scan, read
from tests.pdf.untrusted.test_reading_corpus import corpus
from tests.pdf.untrusted.test_render import picture

SAME = changing.contract()
PACKED = {"object_stream_mode": pikepdf.ObjectStreamMode.generate}

DIFFERENT = {
    "a stamp for the screen": (changing.annotated(0), ["screen_only_annotations"]),
    "a stamp for print": (changing.annotated(PRINT | NO_VIEW), ["print_only_annotations"]),
    "a stamp for print, packed": (changing.annotated(PRINT | NO_VIEW, **PACKED), ["print_only_annotations"]),
    "a stamp for print until the mouse comes": (
        changing.annotated(PRINT | NO_VIEW | TOGGLE_NO_VIEW),
        ["hover_annotations", "print_only_annotations"],
    ),
    "a field for print": (changing.annotated(PRINT | NO_VIEW, "Widget"), ["print_only_annotations"]),
    "a field for the screen": (changing.annotated(0, "Widget"), ["screen_only_annotations"]),
    "a field drawn by its viewer": (
        changing.annotated(PRINT | NO_VIEW, "Widget", appearance=False),
        ["print_only_annotations"],
    ),
    "a link that draws": (changing.annotated(PRINT | NO_VIEW, "Link"), ["print_only_annotations"]),
    "an unknown annotation": (changing.annotated(0, "Unheard"), ["screen_only_annotations"]),
    "a comment drawn by its viewer": (changing.annotated(0, "Square", appearance=False), ["screen_only_annotations"]),
    "a layer not in print": (changing.layered(PRINT_OFF), ["layers"]),
    "a layer in print only": (changing.layered(PRINT_ON), ["layers"]),
    "a membership": (changing.layered(PRINT_OFF, membership={"/P": Name.AllOn}), ["layers"]),
    "a membership of what is off": (changing.layered(PRINT_ON, membership={"/P": Name.AnyOff}), ["layers"]),
    "a layer of a stamp": (changing.annotated(PRINT, layer=PRINT_OFF), ["layers"]),
    "a layer of a field": (changing.annotated(PRINT, "Widget", layer=PRINT_OFF), ["layers"]),
    "a layer within a field": (changing.layer_in_field(), ["layers"]),
}
OFF = {"a layer that is off": (changing.annotated(PRINT, layer=Dictionary(), off=True), ["layers"])}
"""Files that other readers show differently on the screen, too."""
TURN = Dictionary(S=Name.GoTo, D=Array([0, Name.Fit]))
TO_THE_NEXT = Dictionary(S=Name.Named, N=Name.NextPage)
HIDDEN = [
    *(b"<</Type/OCG/Name(a)>>", b"<</Type/O#43G/Name(a)>>", b"<</S/Hi#64e/T(a)>>", b"<</AA<</O 1 0 R>>>>"),
    *(b"<</S%a comment\n/SetOCGState/State[]>>", b"<</Subtype/Screen>>"),
]


def preflight(pdf: bytes) -> dict[str, Any]:
    return inspect(pdf, page_limit=5000).preflight


@pytest.mark.parametrize("way", DIFFERENT | OFF)
def test_a_page_that_prints_differently_is_told_and_has_another_picture(way: str) -> None:
    pdf, words = (DIFFERENT | OFF)[way]
    told = preflight(pdf)
    assert (told["prints_differently"], told["print_unknown"], told["can_change"]) == ([1], 0, words)
    on_screen, printed = picture(render_page(pdf, 1, 1.0)), picture(render_printed_page(pdf, 1, 1.0))
    assert on_screen.size == printed.size
    left, top, right, bottom = ImageChops.difference(on_screen, printed).getbbox() or (0, 0, 0, 0)
    assert left < right and 220 <= top < bottom <= 244  # where the sum stands, and nowhere else


ALIKE = [
    SAME,
    *(changing.annotated(flags) for flags in (PRINT, NO_VIEW, 2)),
    *(changing.annotated(PRINT, "Widget", appearance=drawn) for drawn in (True, False)),
    changing.annotated(0, "Link", appearance=False),
    changing.annotated(0, "Popup"),
]


@pytest.mark.parametrize("pdf", ALIKE)
def test_a_page_that_prints_as_it_is_shown(pdf: bytes) -> None:
    told = preflight(pdf)
    assert (told["prints_differently"], told["print_unknown"], told["can_change"]) == ([], 0, [])
    if pdf is not SAME:
        assert render_page(pdf, 1, 1.0) == render_printed_page(pdf, 1, 1.0)


@pytest.mark.parametrize("flags", [Decimal("36.5"), 2**32 + 4, 2**63 - 1, -(2**31) + 4])
def test_flags_that_readers_may_understand_differently_are_refused(flags: Any) -> None:
    with pytest.raises(PdfRefused) as caught:
        preflight(changing.annotated(flags))
    assert caught.value.reason == "shown_differently"


def test_a_layer_that_prints_as_it_is_shown_can_still_be_switched() -> None:
    for usage in (None, Dictionary(Export=Dictionary(ExportState=Name.OFF))):
        told = preflight(changing.layered(usage))
        assert (told["prints_differently"], told["can_change"]) == ([], ["layers"])


def test_the_pages_are_named() -> None:
    assert preflight(changing.layered(PRINT_OFF, on_page=3, pages=4))["prints_differently"] == [3]


def test_colours_of_one_grey_differ() -> None:
    look = {"N": changing.drawing("0 0 1 rg " + text("1,000,000 EUR", 2, 5))}
    stamp = {"Subtype": Name.Stamp, "Rect": [60, 600, 260, 620], "F": PRINT | NO_VIEW, "AP": look}
    grey = paper("0.11 g 60 600 200 20 re f", annotations=[stamp])  # the grey of that blue
    assert preflight(grey)["prints_differently"] == [1]


@pytest.mark.parametrize("box", [[0, 0, 14400, 14400], [60, 600, 110, 620]])
def test_words_of_huge_and_tiny_pages_differ(box: list[int]) -> None:
    pdf = changing.annotated(PRINT | NO_VIEW, page={"MediaBox": box})
    assert preflight(pdf)["prints_differently"] == [1]


def test_a_file_of_too_many_such_pages_says_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    a_second_a_look = SimpleNamespace(process_time=count().__next__)
    monkeypatch.setattr(report, "time", a_second_a_look)
    monkeypatch.setattr(report, "_SECONDS", 20.0)
    told = here(changing.layered(PRINT_OFF, pages=40))
    assert told["prints_differently"] == [1] and 0 < told["print_unknown"] < 40
    monkeypatch.setattr(report, "_SECONDS", 0.0)
    assert here(changing.layered(PRINT_OFF, pages=4))["print_unknown"] == 4


@pytest.mark.thorough
def test_a_page_that_takes_too_long_is_refused_before_it_is_compared() -> None:
    """What is sealed must be drawn again where it is verified, in less time."""
    slow = "".join(f"0 0 1 rg {n % 90} 0 m 9 800 590 {n % 800} 595 842 c f*\n" for n in range(60_000))

    def prepare(document: pikepdf.Pdf) -> None:
        changing.group(document, PRINT_OFF)

    with pytest.raises(PdfRefused, match="too much memory or time"):
        preflight(paper(slow, "", prepare=prepare))


def test_pages_without_annotations_and_layers_do_not_differ() -> None:
    """All pages of all files at hand are drawn both ways; the preflight draws only some, but tells all that differ."""
    compared = 0
    for name, pdf in chain(corpus().items(), enumerate(a_file_of_each_structure())):
        with suppress(PdfRefused):
            told = here(pdf)
            if told["page_count"] <= 50 and not told["print_unknown"]:
                all_of_them = [[Annotation("/Stamp", 0, draws=True)]] * told["page_count"]
                found = read(pdf, partial(report.compare_print, annotations=all_of_them, layered=False))
                different = set(found["prints_differently"])
                assert different <= set(told["prints_differently"]), name
                compared += told["page_count"] - found["print_unknown"]
    assert compared >= 10


def here(pdf: bytes) -> dict[str, Any]:
    """Return the preflight, made in this process."""
    told: dict[str, Any] = read(pdf, lambda source: inspect_here(source, page_limit=5000)[0]["preflight"])
    return told


_URI = Dictionary(S=Name.URI, URI=String("https://example.com"))
_HIDE = Dictionary(S=Name.Hide, T=String("sum"))
_ACTIONS: list[Any] = [
    Dictionary(S=Name.Launch, F=String("a.exe")),
    Dictionary(S=Name.SubmitForm, F=String("https://example.com")),
    Dictionary(S=Name.ImportData, F=String("a.fdf")),
    Dictionary(S=Name.ResetForm),
    _HIDE,
    Dictionary(S=Name.SetOCGState, State=Array([Name.Toggle])),
    Dictionary(S=Name.Named, N=Name.Print),
    Dictionary(S=Name.Named, N=Name.NextPagee),
    Dictionary({"/S": Name.Named, "/N": Name.Print, "/M": Dictionary(N=Name.NextPage)}),
    Dictionary({**_URI, "/Next": _HIDE}),
]


def _xobject(kind: Any, data: str, **entries: Any) -> bytes:
    drawn = Stream(data, Type=Name.XObject, Subtype=kind, **entries)
    return changing.contract(resources={"XObject": {"X": drawn}})


_PIXEL: dict[str, Any] = {"Width": 1, "Height": 1}
_OTHER = Stream("a", Type=Name.XObject, Subtype=Name.Image, **_PIXEL)


def _unlisted_layer(document: pikepdf.Pdf) -> None:
    changing.group(document, PRINT_OFF)
    document.pages[0].obj.Resources.Properties = Dictionary(P=document.Root.OCProperties.OCGs[0])
    del document.Root.OCProperties


_PRINTED = ["print_only_contents"]
CHANGING = [
    *((changing.acting(SCRIPT, where), ["scripts"]) for where in ("open", "names", "link")),
    *((changing.acting(SCRIPT, where), ["scripts", "actions"]) for where in ("page", "field")),  # by an event
    *((changing.acting(action, "link"), ["actions"]) for action in _ACTIONS),
    *((changing.acting(action, "link"), []) for action in (TURN, TO_THE_NEXT, _URI)),
    *((changing.acting(action, "open"), []) for action in (TURN, Array([0, Name.Fit]))),
    *((changing.acting(act, "open"), ["actions"]) for act in (_URI, Dictionary({**TURN, "/Next": TO_THE_NEXT}))),
    (changing.acting(TURN, "page"), ["actions"]),
    *((changing.annotated(PRINT, kind), ["media"]) for kind in ("Screen", "Movie", "Sound", "3D", "RichMedia")),
    (changing.contract(catalog={"AcroForm": {"Fields": [], "XFA": Stream("<xdp/>")}}), ["xfa_form"]),
    (_xobject(Name.Image, "b", **_PIXEL, Alternates=[{"Image": _OTHER, "DefaultForPrinting": True}]), _PRINTED),
    (_xobject(Name.PS, "showpage"), _PRINTED),
    (changing.contract(_unlisted_layer), ["layers"]),
]


@pytest.mark.parametrize(("pdf", "told"), CHANGING)
def test_what_can_change_what_is_shown(pdf: bytes, told: list[str]) -> None:
    assert preflight(pdf)["can_change"] == told


@pytest.mark.parametrize("body", HIDDEN)
def test_it_is_found_where_it_hides(body: bytes) -> None:
    assert read(many(body), passive_scan) is None
    assert preflight(many(body))["can_change"] != []


DRAWN = [
    *(b"<</Subtype/Stamp>>", b"<</Subtype /Highlight>>", b"<</Sub#74ype/Stamp>>", b"<</Subtype/St#61mp>>"),
    *(b"<</Subtype%a comment\n/Stamp>>", b"<</Subtype 4 0 R>>", b"<</Subtype/Link/Subtype/Stamp>>"),
    *(b"<</Subtype/Link/AP<</N 4 0 R>>>>", b"<</A#50 5 0 R>>"),
]


@pytest.mark.parametrize("body", DRAWN)
def test_an_annotation_that_may_draw_is_looked_at(body: bytes) -> None:
    found = read(many(body), passive_scan)
    assert found is None or found.may_draw_annotations


def test_ordinary_files_stay_on_the_quick_way() -> None:
    link = {"Subtype": Name.Link, "Rect": [0, 0, 9, 9], "A": {"S": Name.URI, "URI": "https://a"}}
    toolbars = {"OpenAction": TURN, "ViewerPreferences": {"HideToolbar": True, "HideMenubar": True}}
    linked = changing.contract(annotations=[link], catalog=toolbars)
    for pdf in (paper(text("a", 50, 50)), linked, many(b"<</Subtype/Link>>", b"<</APX 1/OCX 2>>")):
        found = read(pdf, passive_scan)
        assert found and not found.may_draw_annotations
        assert read(pdf, lambda source: report.read_behaviour(source, passive=False)) == NO_BEHAVIOUR
