"""Tags that nobody has named, and the stamps under them."""

import pytest

from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.models import DocumentTags, Draft, Placed
from paraph.drafts.tags import place_by_tags, signature_lines_of, tags_of, take_back
from tests.drafts import stored
from tests.drafts.author import Author
from tests.pdf.pdf_factory import paper, text

pytestmark = pytest.mark.django_db
BLANK = "____________________"


def placed(draft: Draft) -> list[tuple[str, int]]:
    place_by_tags(draft)
    return [(stamp.signer.first_name, stamp.page_number) for stamp in stored.stamps(draft)]


def test_tags_are_found_where_they_stand_and_searched_once(charles: Author) -> None:
    document = charles.document()
    found = tags_of(document)
    assert {tag: place.page_number for tag, place in found.items()} == {"{{ada}}": 1, "{{grace}}": 1, "{{last}}": 3}
    assert abs(found["{{ada}}"].x - 100) < 3 and abs(found["{{ada}}"].y - 400) < 6
    Document.objects.filter(pk=document.pk).update(object_key="gone")
    assert tags_of(Document.objects.get(pk=document.pk)) == found
    assert DocumentTags.objects.count() == 1


def test_a_tag_is_of_the_signer_in_it_by_name_or_number_or_order(charles: Author) -> None:
    words = text("{{sign2}}", 72, 700) + text("{{signature: GRACE}}", 72, 500) + text("{{buyer}}", 72, 300)
    document = charles.document(paper(words, text("{{witness}} {{one more}}", 72, 600)))
    draft = charles.begun(document, "Ada", "Grace", "Alan")
    assert sorted(placed(draft)) == [("Ada", 1), ("Alan", 2), ("Grace", 1), ("Grace", 1)]


def test_tags_offer_what_they_name(charles: Author) -> None:
    words = text("{{text:tenant:IBAN}}", 72, 700) + text("{{date:tenant}}", 72, 650)
    words += text("{{check:landlord:House_rules}}", 72, 600)
    words += text("{{signature:tenant}} {{Signature: landlord}}", 72, 500) + text("{{hologram:tenant}}", 300, 300)
    draft = charles.begun(charles.document(paper(words)), "Ada", "Grace")
    assert sorted(placed(draft)) == [("Ada", 1), ("Grace", 1)]
    fields = stored.fields(draft)
    asked = [(at.signer.first_name, at.field["type"], at.field["name"]) for at in fields if at.field]
    assert asked == [("Ada", "text", "IBAN"), ("Ada", "date", "Date"), ("Grace", "checkbox", "House rules")]
    assert abs(fields[0].y - (700 - 2 - 18)) < 6 and fields[0].width == 160, "under the tag, in the usual size"
    editing.replace_places(draft, [])
    assert placed(Draft.objects.get(pk=draft.pk)) == [] and not stored.fields(draft)


def test_a_tag_without_room_below_places_nothing(charles: Author) -> None:
    draft = charles.begun(charles.document(paper(text("{{ada}}", 72, 20))), "Ada")
    assert placed(draft) == []


def test_removed_stamps_stay_away(charles: Author) -> None:
    draft = charles.begun(charles.document(), "Ada", "Grace")
    assert len(placed(draft)) == 3 - 1  # {{last}} goes to neither: both have a tag with their name
    editing.replace_places(draft, [])
    assert placed(Draft.objects.get(pk=draft.pk)) == []


def test_lines_for_signatures_are_searched_once(charles: Author) -> None:
    document = charles.document(paper("", text("Signature: ____________", 72, 300)))
    tags_of(document)  # a row of an earlier version knows no lines
    [line] = signature_lines_of(document)
    assert (line.label, line.page_number) == ("Signature", 2)
    Document.objects.filter(pk=document.pk).update(object_key="gone")
    assert signature_lines_of(Document.objects.get(pk=document.pk)) == [line]


def line_of(draft: Draft) -> list[tuple[str, int, float]]:
    return [(at.signer.first_name, at.page_number, round(at.x)) for at in place_by_tags(draft)]


def test_a_line_that_names_its_signer_has_a_stamp_at_once_and_it_can_be_taken_back(charles: Author) -> None:
    words = text(BLANK, 72, 250) + text("Grace Hopper", 72, 236, 9)
    words += text(BLANK, 330, 250) + text("Landlord", 330, 236, 9)
    document = charles.document(paper("", text("Signatures", 72, 400) + words))
    draft = charles.begun(document, "Ada", "Grace")
    editing.replace_places(draft, [Placed(document, draft.signing[0], 1, 100, 100, 160, 56)])
    assert line_of(draft) == [("Grace", 2, 72)]
    assert [(at.signer.first_name, at.page_number) for at in draft.places()] == [("Ada", 1), ("Grace", 2)]
    take_back(draft)
    assert [at.signer.first_name for at in draft.places()] == ["Ada"]
    assert line_of(Draft.objects.get(pk=draft.pk)) == []


def test_the_only_line_is_the_only_signers_and_of_several_none_is_clear(charles: Author) -> None:
    alone = charles.begun(charles.document(paper("", text(f"Signature: {BLANK}", 72, 300))), "Ada")
    assert line_of(alone) == [("Ada", 2, 130)]
    two = paper("", text(f"Landlord: {BLANK}", 72, 300) + text(f"Tenant: {BLANK}", 72, 200))
    assert line_of(charles.begun(charles.document(two), "Ada")) == []
    assert line_of(charles.begun(charles.document(two), "Ada", "Grace")) == []


def test_tags_of_a_document_go_before_its_lines(charles: Author) -> None:
    words = text("{{ada}}", 72, 600) + text(f"Signature of Ada: {BLANK}", 72, 300)
    draft = charles.begun(charles.document(paper(words)), "Ada")
    assert placed(draft) == [("Ada", 1)] and stored.stamps(draft)[0].y > 500
