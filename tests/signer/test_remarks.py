"""Documents that can look different from the signer's page: upload, remarks on the page, journal and refusal."""

import io
import re

import pytest
from PIL import Image

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.documents.refusals import refuse_changeable
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.untrusted.inspect import inspect
from paraph.signer import language
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import CONTRACT, ApiClient, api_client, error, payload, rectangle
from tests.pdf import changing, revisions
from tests.pdf.changing import PRINT_OFF, SCRIPT
from tests.pdf.pdf_factory import paper
from tests.pdf.pdf_factory import text as words
from tests.pdf.revisions import revised
from tests.pdf.sealed_files import GREEN, authority, pictures, sealed, sealed_without_purpose
from tests.pdf.untrusted import test_disputes as files
from tests.pdf.untrusted.test_preflight import DIFFERENT
from tests.production import Client
from tests.signer.calls import text
from tests.tenancy import create_organization, update_organization

pytestmark = pytest.mark.django_db

LAYERED = changing.layered(PRINT_OFF, on_page=2, pages=3)
SCRIPTED = changing.acting(SCRIPT, "open")
DISPUTED = files.annotated(files.ANNOTATIONS["polyline"] + "/F 4")
PLACE = {"page_number": 1, "x": 100.0, "y": 290.0, "width": 100.0, "height": 40.0, "what": "annotation"}
ALTERED = revised(sealed(paper(words("A contract over 1,000", 20, 605)), at=clock.now()).content, revisions.content)
"""Sealed by a service that this one does not trust, then drawn over."""


@pytest.fixture
def owner() -> ApiClient:
    return api_client()


def asked(owner: ApiClient, *files: bytes) -> tuple[list[int], str]:
    """Upload the files and create a request with them; return the documents' ids and the path of the signer's page."""
    ids = []
    for file in files:
        response = owner.upload(file)
        assert response.status_code == 201, response.content
        ids.append(response.json()["id"])
    signers = payload(0)["signers"][:1]
    stamps = [{"signer_ref": "ada", "stamps": [rectangle(page_number=1)]}]
    made = owner.create(payload(0, signers=signers, documents=[{"id": each, "signers": stamps} for each in ids]))
    assert made.status_code == 201, made.content
    return ids, re.sub("^https?://[^/]+", "", made.json()["signers"][0]["signing_url"])


def test_pages_that_print_differently_are_linked_and_shown_both_ways(client: Client, owner: ApiClient) -> None:
    (document, plain), url = asked(owner, LAYERED, CONTRACT)
    page = text(client.get(url))
    assert "This document prints differently: see both versions." in page
    assert f'<a href="#print-{document}-2">Page 2</a>' in page and f'id="print-{document}-2"' in page
    printed = f"{url}/documents/{document}/pages/2-print.webp"
    assert page.count("-print.webp") == 2 and page.count(f'src="{printed}"') == 1
    assert page.count("prints differently") == 1 and f"print-{plain}" not in page
    assert "Parts of this document can change after signing (layers)." in page
    for _ in range(2):  # drawn, then from storage
        response = client.get(printed)
        assert (response["Content-Type"], response["Cache-Control"]) == ("image/webp", "private, max-age=900")
    answers = (response, client.get(f"{url}/documents/{document}/pages/2.webp"))
    in_print, on_screen = (Image.open(io.BytesIO(answer.content)) for answer in answers)
    assert on_screen.size == in_print.size and on_screen.tobytes() != in_print.tobytes()


def test_what_can_change_or_was_not_compared_is_told_and_nothing_of_other_documents(
    client: Client, owner: ApiClient
) -> None:
    page = text(client.get(asked(owner, SCRIPTED)[1]))
    assert "Parts of this document can change after signing (scripts). What you see here is what is sealed." in page
    assert "prints differently" not in page and "-print.webp" not in page
    (document,), url = asked(owner, CONTRACT)
    page = text(client.get(url))
    assert 'class="remarks"' not in page and 'class="both"' not in page
    assert "documents" not in Entry.objects.filter(event_type="signature_request.created").latest("pk").metadata
    row = Document.objects.get(pk=document)
    Document.objects.filter(pk=document).update(preflight=row.preflight | {"print_unknown": 3})
    assert "3 pages could not be compared with their print." in text(client.get(url))


def test_it_is_told_in_the_language_of_the_page(client: Client, owner: ApiClient) -> None:
    _, url = asked(owner, LAYERED, DISPUTED, ALTERED)
    for locale in ("en", "de", "ar"):
        page, said = text(client.get(f"{url}?lang={locale}")), language.words(locale)
        for word in ("prints_differently", "layers", "drawn_differently", "differs_here", "altered_after_seal"):
            assert said[word] in page, (locale, word)
        assert said["can_change"].format(parts=said["layers"]) in page
        assert said["as_printed"].format(page=2, pages=3) in page


def test_the_journal_and_the_answer_to_the_upload_note_it(owner: ApiClient) -> None:
    (layered, plain, scripted, disputed, altered), _ = asked(owner, LAYERED, CONTRACT, SCRIPTED, DISPUTED, ALTERED)
    metadata = Entry.objects.get(event_type="signature_request.created").metadata
    assert metadata["documents"] == [
        {"document_id": layered, "prints_differently": [2], "can_change": ["layers"]},
        {"document_id": scripted, "prints_differently": [], "can_change": ["scripts"]},
        {"document_id": disputed, "prints_differently": [], "drawn_differently": [PLACE], "can_change": []},
        {"document_id": altered, "prints_differently": [], "can_change": [], "altered_after_seal": ["Seal"]},
    ]
    owner.get(f"/signature_requests/{Entry.objects.get().request_id}/audit_logs")  # as the OpenAPI document promises
    told = {each: owner.get(f"/documents/{each}").json()["preflight"] for each in (plain, disputed, altered)}
    assert told[disputed]["drawn_differently"] == [PLACE]
    assert (told[altered]["altered_after_seal"], told[plain]["altered_after_seal"]) == (["Seal"], [])


@pytest.fixture
def strict() -> ApiClient:
    """A production key of an organization that refuses documents that can change."""
    made = api_client("pro", "production")
    assert made.organization
    update_organization(made.organization.pk, refuse_changeable_documents=True)
    return made


def test_an_organization_may_refuse_such_documents_in_production_alone(strict: ApiClient) -> None:
    start = "Your organization refuses documents that can look different from what signers see: "
    refused = error(strict.upload(LAYERED), 422, "validation_error")
    assert refused == f"{start}page 2 prints differently; it has layers."
    assert error(strict.upload(SCRIPTED), 422, "validation_error") == f"{start}it has scripts."
    assert error(strict.upload(DISPUTED), 422, "validation_error").endswith("readers draw page 1 differently.")
    strict.headers["Accept-Language"] = "de"
    refused = error(strict.upload(LAYERED), 422, "validation_error")
    assert "Seite 2 sieht gedruckt anders aus; es enthält Ebenen." in refused
    assert strict.upload(CONTRACT).status_code == 201
    assert strict.organization
    sandbox = api_client("pro", "sandbox", strict.organization)
    assert sandbox.upload(LAYERED).status_code == 201
    update_organization(strict.organization.pk, refuse_changeable_documents=False)
    assert strict.upload(LAYERED).status_code == 201


def test_every_way_has_its_sentence_and_many_pages_are_cut_short_in_it() -> None:
    organization = update_organization(create_organization("Acme", "pro").pk, refuse_changeable_documents=True)
    scope = TenantScope(organization.pk, "production", "pro", 0)
    for way in DIFFERENT:
        told = inspect(DIFFERENT[way][0], page_limit=10).preflight
        with pytest.raises(DomainError, match=r"page 1 prints differently; it has [^;]+(; it has [^;]+)*\.$"):
            refuse_changeable(scope, told)
    told = {"prints_differently": list(range(1, 31)), "print_unknown": 7, "can_change": []}
    with pytest.raises(DomainError, match=r"pages 1, 2, .*20, … print differently; 7 pages could not be compared"):
        refuse_changeable(scope, told)


def test_places_that_other_readers_draw_otherwise_are_outlined(client: Client, owner: ApiClient) -> None:
    """Each place has a sign, its page a note, and its document a link above it; nothing of this needs scripts."""
    (document, plain), url = asked(owner, DISPUTED, CONTRACT)
    page = text(client.get(url))
    assert (
        f'<strong>Other programs may show the marked places differently:</strong> <a href="#differs-{document}-1">'
        in page
    )
    outline = page[page.index(f'id="differs-{document}-1"') :].partition("</svg>")[0]
    assert 'role="img" aria-label="May look different in other programs"' in outline
    assert '<rect x="100" y="512" width="100" height="40"/>' in outline and 'cx="100" cy="512"' in outline
    assert page.count('class="differs"') == 1 and f"differs-{plain}" not in page


def test_what_lies_over_text_is_refused(owner: ApiClient) -> None:
    link = "/Subtype/Link/Border[0 0 60]/C[1 1 1]"
    for entries, english, german in (
        (
            files.ANNOTATIONS["white polygon"],
            "an annotation (Polygon) lies",
            "liegt eine Anmerkung (Polygon) über Text",
        ),
        (files.ANNOTATIONS["signature with a background"], "a form field lies", "liegt ein Formularfeld über Text"),
        (link, "the border of a link lies", "liegt der Rahmen eines Links über Text"),
    ):
        pdf = files.annotated(entries, words("I pay 1,000 EUR", 105, 305))
        owner.headers["Accept-Language"] = "en"
        assert error(owner.upload(pdf), 422, "validation_error").startswith(f"On page 1 {english} over text")
        owner.headers["Accept-Language"] = "de"
        assert german in error(owner.upload(pdf), 422, "validation_error")


def test_an_appearance_added_by_an_untrusted_signature_is_an_alteration(owner: ApiClient) -> None:
    """The appearance lies over text of a file that the service had sealed."""
    first = sealed(paper(words("A contract over 1,000", 20, 605)), at=clock.now()).content
    marks = {"appearances": pictures(), "marks": [Mark(1, 20, 600, 100, 50, GREEN)]}
    overdrawn = sealed_without_purpose(first, key=authority("rsa-3072").sealing_key, **marks)
    for file, altered in ((first, []), (overdrawn, ["Seal"])):
        assert owner.upload(file).json()["preflight"]["altered_after_seal"] == altered
