"""What can change what is shown is told, wherever it hangs, by the fast scan as by the full examination."""

import os
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import ScannedFile
from paraph.pdf.untrusted.jobs.upload_checks.preflight import NO_BEHAVIOUR, read_behaviour
from tests.pdf import changing
from tests.pdf.changing import PRINT, PRINT_OFF, SCRIPT
from tests.pdf.pdf_factory import paper, text
from tests.pdf.untrusted.test_actions import many, passive_scan

TURN = Dictionary(S=Name.GoTo, D=Array([0, Name.Fit]))
TO_THE_NEXT = Dictionary(S=Name.Named, N=Name.NextPage)


def words(pdf: bytes) -> list[str]:
    told: list[str] = inspect(pdf, page_limit=10).preflight["can_change"]
    return told


def passive_file(pdf: bytes) -> ScannedFile | None:
    descriptor = os.memfd_create("test")
    os.write(descriptor, pdf)
    with UntrustedFile(descriptor) as source:
        return passive_scan(source)


@pytest.mark.parametrize("where", ["open", "names", "link"])
def test_scripts(where: str) -> None:
    assert words(changing.acting(SCRIPT, where))[0] == "scripts"


@pytest.mark.parametrize("where", ["page", "field"])
def test_scripts_that_events_start(where: str) -> None:
    assert words(changing.acting(SCRIPT, where)) == ["scripts", "actions"]


@pytest.mark.parametrize(
    "action",
    [
        Dictionary(S=Name.Launch, F=String("a.exe")),
        Dictionary(S=Name.SubmitForm, F=String("https://example.com")),
        Dictionary(S=Name.ImportData, F=String("a.fdf")),
        Dictionary(S=Name.ResetForm),
        Dictionary(S=Name.Hide, T=String("sum")),
        Dictionary(S=Name.SetOCGState, State=Array([Name.Toggle])),
        Dictionary(S=Name.Named, N=Name.Print),
        Dictionary(S=Name.Named, N=Name.NextPagee),
        Dictionary({"/S": Name.Named, "/N": Name.Print, "/M": Dictionary(N=Name.NextPage)}),
        Dictionary(S=Name.URI, URI=String("https://example.com"), Next=Dictionary(S=Name.Hide, T=String("sum"))),
    ],
)
def test_actions(action: Any) -> None:
    assert words(changing.acting(action, "link")) == ["actions"]


@pytest.mark.parametrize("action", [TURN, TO_THE_NEXT, Dictionary(S=Name.URI, URI=String("https://example.com"))])
def test_links_that_turn_pages_change_nothing(action: Any) -> None:
    assert words(changing.acting(action, "link")) == []


def test_what_opening_the_file_does() -> None:
    assert words(changing.acting(TURN, "open")) == []
    assert words(changing.acting(Array([0, Name.Fit]), "open")) == []
    assert words(changing.acting(Dictionary(S=Name.URI, URI=String("https://example.com")), "open")) == ["actions"]
    assert words(changing.acting(Dictionary({**TURN, "/Next": TO_THE_NEXT}), "open")) == ["actions"]
    assert words(changing.acting(TURN, "page")) == ["actions"]


@pytest.mark.parametrize("kind", ["Screen", "Movie", "Sound", "3D", "RichMedia"])
def test_media(kind: str) -> None:
    assert words(changing.annotated(PRINT, kind)) == ["media"]


def test_an_xfa_form() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.AcroForm = Dictionary(Fields=[], XFA=document.make_stream(b"<xdp/>"))

    assert words(changing.contract(prepare)) == ["xfa_form"]


def test_contents_for_printers_alone() -> None:
    def alternate(document: pikepdf.Pdf) -> None:
        image = document.make_stream(b"\0", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1)
        other = document.make_stream(b"\xff", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1)
        image.Alternates = Array([Dictionary(Image=other, DefaultForPrinting=True)])
        document.pages[0].obj.Resources.XObject = Dictionary(I=image)

    def postscript(document: pikepdf.Pdf) -> None:
        program = document.make_stream(b"showpage", Type=Name.XObject, Subtype=Name.PS)
        document.pages[0].obj.Resources.XObject = Dictionary(P=program)

    for prepare in (alternate, postscript):
        assert words(changing.contract(prepare)) == ["print_only_contents"]


def test_layers_without_a_list_of_layers() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        changing.group(document, PRINT_OFF)
        document.pages[0].obj.Resources.Properties = Dictionary(P=document.Root.OCProperties.OCGs[0])
        del document.Root.OCProperties

    assert words(changing.contract(prepare)) == ["layers"]


HIDDEN = [
    b"<</Type/OCG/Name(a)>>",
    b"<</Type/O#43G/Name(a)>>",
    b"<</S/Hi#64e/T(a)>>",
    b"<</S%a comment\n/SetOCGState/State[]>>",
    b"<</AA<</O 1 0 R>>>>",
    b"<</Subtype/Screen>>",
]


@pytest.mark.parametrize("body", HIDDEN)
def test_it_is_found_where_it_hides(body: bytes) -> None:
    assert passive_file(many(body)) is None
    assert words(many(body)) != []


@pytest.mark.parametrize(
    "body",
    [
        b"<</Subtype/Stamp>>",
        b"<</Subtype /Highlight>>",
        b"<</Sub#74ype/Stamp>>",
        b"<</Subtype/St#61mp>>",
        b"<</Subtype%a comment\n/Stamp>>",
        b"<</Subtype 4 0 R>>",
        b"<</Subtype/Link/Subtype/Stamp>>",
        b"<</Subtype/Link/AP<</N 4 0 R>>>>",
        b"<</A#50 5 0 R>>",
    ],
)
def test_an_annotation_that_may_draw_is_looked_at(body: bytes) -> None:
    found = passive_file(many(body))
    assert found is None or found.may_draw_annotations


def test_ordinary_files_stay_on_the_quick_way() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.OpenAction = TURN
        document.Root.ViewerPreferences = Dictionary(HideToolbar=True, HideMenubar=True)
        document.pages[0].obj.Annots = Array(
            [
                Dictionary(
                    Type=Name.Annot, Subtype=Name.Link, Rect=[0, 0, 9, 9], A=Dictionary(S=Name.URI, URI="https://a")
                )
            ]
        )

    for pdf in (paper(text("a", 50, 50)), changing.contract(prepare), many(b"<</Subtype/Link>>", b"<</APX 1/OCX 2>>")):
        found = passive_file(pdf)
        assert found and not found.may_draw_annotations
        descriptor = os.memfd_create("test")
        os.write(descriptor, pdf)
        with UntrustedFile(descriptor) as source:
            assert read_behaviour(source, passive=False) == NO_BEHAVIOUR
