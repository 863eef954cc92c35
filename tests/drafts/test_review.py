"""What senders are told of stamps before they send, and the size of stamps that are placed automatically."""

from pathlib import Path
from typing import Any

import pytest

from paraph.drafts import editing
from paraph.drafts.models import Draft, Placed
from paraph.drafts.review import Remark, remarks, unwritten_names
from paraph.drafts.tags import place_by_tags, signature_lines_of, sizes_for, tags_of
from paraph.pdf.typesetting import fonts
from tests.drafts import stored
from tests.drafts.author import Author, author
from tests.pdf.pdf_factory import paper, text

pytestmark = pytest.mark.django_db
RENT = text("Rent: 1,200 euros", 110, 330)


def draft_on(*pages: str, places: list[tuple[int, float, float]], name: str = "Ada") -> Draft:
    """Return a draft with Ada's stamp at the first place, Grace's at the second, and so on, of 200 by 80 points."""
    charles = author()
    draft = charles.begun(charles.document(paper(*pages)), name, "Grace")
    [document] = draft.files()
    stamps = [
        Placed(document, draft.signers[index % 2], page_number=page, x=x, y=y, width=200, height=80)
        for index, (page, x, y) in enumerate(places)
    ]
    editing.replace_places(draft, stamps)
    return draft


def test_a_stamp_over_words_is_told_with_them() -> None:
    draft = draft_on(RENT, RENT, places=[(1, 100, 300), (2, 300, 600)])
    assert remarks(draft) == [Remark("Ada's signature on page 1 covers “Rent: 1,200 euros”.", ("stamp-0",))]


def test_stamps_over_each_other_are_told() -> None:
    places = [(1, 100.0, 300.0), (1, 250.0, 350.0), (1, 299.0, 100.0), (2, 100.0, 300.0)]
    said = "The signatures of Ada and Grace on page 1 overlap."
    assert remarks(draft_on("", "", places=places)) == [Remark(said, ("stamp-0", "stamp-2"))]


def test_two_of_one_name_are_told_by_their_whole_names() -> None:
    [said] = remarks(draft_on(RENT, places=[(1, 100, 300)], name="Grace"))
    assert said.sentence.startswith("Grace Hopper's signature on page 1 ")


def ask(draft: Draft, x: float, y: float, page: int = 1, **content: Any) -> None:
    """Add a field for Grace with this content at this point."""
    [document] = draft.files()
    draft.place([*draft.places(), Placed(document, draft.signers[1], page, x, y, 160, 18, content)])


def test_fields_over_stamps_and_over_each_other_are_told() -> None:
    """Remarks call fields by their labels; fields that only touch, or stand on another page, are not told."""
    draft = draft_on("", "", places=[(1, 100, 300)])
    ask(draft, 250, 362, type="text", name="IBAN", label="Your IBAN")
    ask(draft, 300, 370, type="text", name="Rent")
    ask(draft, 100, 282, type="text", name="Below")
    ask(draft, 250, 362, page=2, type="text", name="Elsewhere")
    assert remarks(draft) == [
        Remark("The field “Your IBAN” and Ada's signature on page 1 overlap.", ("field-0", "stamp-0")),
        Remark("The fields “Your IBAN” and “Rent” on page 1 overlap.", ("field-0", "field-1")),
    ]


def test_options_that_nobody_has_named_are_told() -> None:
    draft = draft_on("", places=[(1, 100, 300)])
    ask(draft, 100, 500, type="choice", name="Pets", options=["Option 1", "Option 2"])
    ask(draft, 100, 530, type="choice", name="Floor", options=["First", "Option 2"])
    ask(draft, 100, 560, type="choice", name="Way", options=["A", "B"])
    assert [(each.rows, each.sentence.partition(". ")[0]) for each in remarks(draft)] == [
        (("field-0",), "The field “Pets” on page 1 still offers “Option 1” and “Option 2”"),
        (("field-1",), "The field “Floor” on page 1 still offers “Option 2”"),
    ]


def test_a_field_over_words_is_told_with_them_and_over_a_blank_or_a_tag_is_not() -> None:
    page = RENT + text("IBAN: ________________", 60, 500) + text("{{date:tenant}}", 110, 200)
    draft = draft_on(page, places=[(1, 300, 600)])
    for name, y, page_number in (("Rent", 325, 1), ("IBAN", 496, 1), ("Date", 196, 1), ("Elsewhere", 325, 9)):
        ask(draft, 100, y, page_number, type="text", name=name)
    assert remarks(draft) == [Remark("The field “Rent” on page 1 covers “Rent: 1,200 euros”.", ("field-0",))]


def test_stamps_beside_words_and_over_lines_and_tags_are_not() -> None:
    page = text("[[tenant]]", 110, 330) + text("Signature: ____________", 50, 310) + text("Below it", 110, 285)
    assert remarks(draft_on(page, places=[(1, 100, 300)])) == []


def test_a_stamp_on_no_page_is_no_fault_here() -> None:
    draft = draft_on("", places=[(9, 100, 300)])
    assert remarks(draft) == []


def test_names_that_no_font_has_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare = fonts.open_library(tmp_path, system_folders=())
    monkeypatch.setattr("paraph.pdf.typesetting.glyph_fallback.library", lambda: bare)
    draft = draft_on("", places=[], name="愛子")
    stored.change_signers(draft, email="aiko@example.com")
    draft.refresh_from_db()
    assert unwritten_names(draft) == [("愛子 X", "aiko@example.com")]


@pytest.mark.parametrize(
    ("line_at", "size"), [(0, (160, 56)), (600, (160, 56)), (640, (120, 40)), (652, (100, 34)), (680, (120, 40))]
)
def test_a_stamp_under_a_tag_takes_the_room_that_is_there(line_at: int, size: tuple[float, float]) -> None:
    """Where there is too little room for a stamp of any size, it has a middle size."""
    below = text("And the rent is due on the third working day of each month.", 72, line_at) if line_at else ""
    document = author().document(paper(text("{{ada}}", 150, 700) + below))
    assert sizes_for(document, list(tags_of(document).values())) == [size]


def test_a_stamp_over_a_line_takes_the_room_above_it() -> None:
    words = text("This is agreed between the parties to this contract, in two copies.", 72, 350)
    document = author().document(paper(words + text("Signature: ____________________", 72, 300)))
    [(width, height)] = sizes_for(document, signature_lines_of(document))
    assert 44 <= height <= 48 and 125 < width < 140, "as long as the line"


def test_the_first_stamps_of_a_draft_have_that_size(charles: Author) -> None:
    words = text("{{ada}}", 150, 700) + text("And the rent is due on the third day of each month.", 72, 640)
    draft = charles.begun(charles.document(paper(words)), "Ada")
    place_by_tags(draft)
    [stamp] = stored.stamps()
    assert (stamp.width, stamp.height) == (120, 40)
    assert remarks(draft) == []
