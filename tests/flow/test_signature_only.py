"""Stamps that are a signature alone: chosen by the profile, fixed when the request is created, the same for signers and
in the seal."""

import re

import pytest
from django.test import Client

from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.signature_requests.models import RequestDocument, SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import create_profile, update_profile
from tests.api.v1.api_clients import api_client, payload
from tests.factories import TYPED, scene, sign
from tests.logos import COLORS
from tests.pdf.pictures import texts

pytestmark = pytest.mark.django_db


def drawn(request_id: int) -> str:
    row = RequestDocument.objects.select_related("request", "document").get(request=request_id)
    return " ".join(texts(stamp_marks(row).appearances)[:1])


def test_the_sealed_stamp_is_the_signature_alone() -> None:
    alone, whole = scene(signature_only=True), scene()
    for made in (alone, whole):
        sign(made)
    assert re.sub(r"\s", "", drawn(alone.request.pk)) == "AdaLovelace"
    assert "Signed by" in drawn(whole.request.pk) and f"Request {whole.request.pk}" in drawn(whole.request.pk)


def test_the_signer_sees_what_is_sealed(client: Client) -> None:
    sizes = []
    for made in (scene(signature_only=True), scene()):
        answer = client.post(made.url(rest="/stamp"), {"signature": TYPED}, content_type="application/json")
        sizes.append(answer.json()["svg"].count("<use "))
    alone, whole = sizes
    assert 0 < alone < 20 < whole, "letters are outlines"


def test_a_request_keeps_the_form_that_its_profile_had() -> None:
    owner = api_client()
    assert owner.organization
    profile = create_profile(owner.organization.pk, OPERATOR, "House", signature_only=True, **COLORS)
    created = owner.create(payload(owner.document(), branding_profile_id=profile.pk)).json()
    assert created["branding_profile"] == {"id": profile.pk, "name": "House", **COLORS}
    assert SignatureRequest.objects.get().signature_only
    update_profile(OPERATOR, profile, "House", signature_only=False, **COLORS)
    assert SignatureRequest.objects.get().signature_only, "what signers saw is what is sealed"
    owner.create(payload(owner.document(), branding_profile_id=profile.pk))
    owner.create(payload(owner.document()))
    assert [each.signature_only for each in SignatureRequest.objects.order_by("pk")] == [True, False, False]
