"""Logos: stored like other objects, shown on pages, mails and proofs, and gone with their organization."""

import io
import re
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from PIL import Image

from paraph.documents import objects_to_delete
from paraph.documents.models import ObjectToDelete
from paraph.evidence.named_objects import NamedObject, named_among, named_objects
from paraph.flow.branding import delete_profile, remove_logo
from paraph.flow.ending import delete_organization
from paraph.flow.messages import emails
from paraph.flow.sealing.finalize import seal
from paraph.flow.sealing.proof_content import proof_content
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.operations.store import verify_store
from paraph.pdf.typesetting.proof import proof
from paraph.pdf.untrusted.logo import LogoRefused
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import logo_picture
from paraph.tenants.models import Activity, Logo
from tests.factories import Scene, scene, sign
from tests.logos import branded, logo_for
from tests.production import Client

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>'


def test_a_logo_is_stored_named_replaced_and_removed(data_dir: Path) -> None:
    profile = branded(scene(), logo=False)
    first = logo_for(profile)
    content = store.get(first.object_key)
    assert Image.open(io.BytesIO(content)).size == (480, 120) == (first.width, first.height)
    named = NamedObject(("logo", profile.pk), first.object_key, tokens.sha256(content), len(content))
    assert list(named_objects("logo")) == [named]
    found = verify_store(data_dir / "progress.json", 1e12)
    assert found["objects"] == 2 and found["problems"] == []

    second = logo_for(profile, SVG)
    assert named_among("logos/", [first.object_key, second.object_key]) == {second.object_key}
    second = logo_for(profile, SVG)
    objects_to_delete.delete_noted()
    assert store.get(second.object_key), "the same picture again is another object"
    with pytest.raises(FileNotFoundError):
        store.get(first.object_key)

    remove_logo(OPERATOR, profile)
    remove_logo(OPERATOR, profile)  # once more changes nothing
    objects_to_delete.delete_noted()
    assert not Logo.objects.exists() and list((data_dir / "objects" / "logos").rglob("*.png")) == []
    acts = Activity.objects.filter(action="branding.updated").order_by("pk")
    one, other = bytes(first.sha256).hex(), bytes(second.sha256).hex()
    digests = [(act.before["logo_sha256"], act.after["logo_sha256"]) for act in acts]
    assert digests == [(None, one), (one, other), (other, other), (other, None)]


def test_what_is_refused_changes_nothing() -> None:
    profile = branded(scene())
    with pytest.raises(LogoRefused):
        logo_for(profile, b"GIF89a")
    assert logo_picture(profile) and not ObjectToDelete.objects.exists()
    delete_profile(OPERATOR, profile)
    with pytest.raises(DomainError, match="no branding profile"):
        logo_for(profile)
    with pytest.raises(DomainError, match="no branding profile"):
        remove_logo(OPERATOR, profile)
    assert logo_picture(profile), "what was sent keeps the look of a deleted profile"


def test_logos_go_with_the_organization_and_those_of_others_stay() -> None:
    mine, theirs = branded(scene()), branded(scene())
    gone = Logo.objects.get(profile=mine).object_key
    delete_profile(OPERATOR, mine)
    delete_organization(mine.organization_id, OPERATOR)
    objects_to_delete.delete_noted()
    with pytest.raises(FileNotFoundError):
        store.get(gone)
    assert [logo.pk for logo in Logo.objects.all()] == [theirs.pk]


def test_an_object_that_is_away_is_done_without(data_dir: Path, made: Scene) -> None:
    profile = branded(made)
    store.delete(Logo.objects.get().object_key)
    assert logo_picture(profile) is None
    assert emails.invitation(made.signers[0], "https://sign.example").logo == b""


def test_the_page_shows_it_and_is_the_same_without(client: Client, made: Scene) -> None:
    profile = branded(made, logo=False)
    without = client.get(made.url()).content.decode()
    logo = logo_for(profile)
    response = client.get(made.url())
    page = response.content.decode()
    shown = re.search(r'<p class="brand"><img src="([^"]+)" width="240" height="60" alt="Acme Ltd"></p>', page)
    assert shown and "img-src 'self' data:" in response["Content-Security-Policy"]
    picture = client.get(shown[1])
    assert picture["Content-Type"] == "image/png" and picture.content == store.get(logo.object_key)
    assert (
        picture["Cache-Control"] == "private, max-age=86400, immutable" and picture["Referrer-Policy"] == "no-referrer"
    )

    def bare(text: str) -> str:
        return re.sub(r'nonce="[^"]+"', "", text)

    added = f'<header><p class="sandbox">{sandbox_words(without)}</p>{shown[0]}</header>'
    assert bare(page).replace(added, f'<header class="sandbox">{sandbox_words(without)}</header>') == bare(without)


def sandbox_words(page: str) -> str:
    found = re.search(r'<header class="sandbox">([^<]+)</header>', page)
    assert found
    return found[1]


def test_the_logo_of_a_link_is_that_of_its_request_alone(client: Client) -> None:
    branded(scene())
    other = scene()
    assert client.get(other.url(rest="/logo.png")).status_code == 404
    assert client.get("/sign/unknown/logo.png").status_code == 404
    assert client.post(other.url(rest="/logo.png")).status_code == 405


def test_mails_to_signers_carry_it_on_the_profiles_background(made: Scene) -> None:
    profile = branded(made)
    invitation, code = (
        emails.invitation(made.signers[0], "https://sign.example"),
        emails.one_time_code(made.signers[0], "123456"),
    )
    for mail in (invitation, code):
        assert mail.logo == store.get(Logo.objects.get().object_key)
        assert re.search(r'background:#101820"><img src="cid:logo" alt="" width="240" height="60"', mail.html)
        assert "cid:" not in mail.text
    remove_logo(OPERATOR, profile)
    without = emails.invitation(made.signers[0], "https://sign.example")
    assert without.logo == b"" and "<img" not in without.html


def test_the_proof_shows_it(made: Scene) -> None:
    branded(made)
    sign(made)
    seal(made.request_documents[0].pk)
    request = SignatureRequest.objects.select_related("organization", "branding_profile").get(pk=made.request.pk)
    content = proof_content(request, clock.now())
    assert [picture.size for picture in pictures_of(proof(content))] == [(480, 120)]
    request.branding_profile = None
    assert pictures_of(proof(proof_content(request, clock.now()))) == []


def pictures_of(pdf: bytes) -> list[Image.Image]:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        images: Any = document.pages[0].get_images()
        return [pikepdf.PdfImage(each).as_pil_image() for each in images.values()]
