"""A request that is read with the key look-up is the one that its rows would give."""

from datetime import timedelta
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.signature_requests.reading import LoadedRequest, loaded_request, prefetched_request, reading
from paraph.signature_requests.values import LARGEST_ID
from paraph.tenants.admission import admit
from paraph.tenants.models import BrandingProfile
from paraph.tenants.registration import create_application
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db


def read(made: Scene, environment: str = "sandbox") -> LoadedRequest | None:
    key = create_application(made.request.organization_id, environment, "reader").api_key
    admission = admit(key, reading(made.request.pk))
    assert admission
    return None if admission[2] is None else prefetched_request(admission[2])


def from_rows(made: Scene) -> LoadedRequest:
    row = SignatureRequest.objects.get(pk=made.request.pk)
    return loaded_request(row, row.request_documents.all(), row.signers.all())


@pytest.mark.parametrize("fields", [{}, {"status": "expired", "initials_required": True}, {"finalized": True}])
def test_it_is_what_the_rows_say(fields: dict[str, Any]) -> None:
    made = scene(signers=3, documents=2, mode="sequential", **fields)
    assert read(made) == from_rows(made)


def test_signed_and_branded_ones_too() -> None:
    made = scene(signers=2, documents=2)
    sign(made, 1)
    profile = BrandingProfile.objects.create(
        organization_id=made.request.organization_id,
        name='Zoë’s \\ "brand"',
        background_color="#FFFFFF",
        text_color="#000000",
        accent_color="#123456",
    )
    SignatureRequest.objects.update(branding_profile=profile, expires_at=clock.now() + timedelta(microseconds=1))
    found = read(made)
    assert found == from_rows(made)
    assert (
        found
        and found.branding_profile
        and vars(found.branding_profile) | {"_state": 0} == vars(profile) | {"_state": 0}
    )
    assert [signer.status for signer in found.signers] == ["pending", "signed"]


def test_only_its_own_organization_and_environment_read_it() -> None:
    made, other = scene(), scene()
    assert read(made) is not None
    assert read(made, "production") is None
    key = create_application(other.request.organization_id, "sandbox", "stranger").api_key
    admission = admit(key, reading(made.request.pk))
    assert admission and admission[2] is None


def test_what_cannot_be_an_id_is_not_looked_for() -> None:
    assert reading(LARGEST_ID) is not None
    assert reading(LARGEST_ID + 1) is None
