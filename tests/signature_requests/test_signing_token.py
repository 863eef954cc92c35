"""A signing token opens one signer's page, and nothing stored opens any."""

from datetime import timedelta

import pytest

from paraph.kernel import clock, tokens
from paraph.organizations.models import Application, Organization
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_token import new_salt, signer_of, signing_url, token

pytestmark = pytest.mark.django_db


@pytest.fixture
def signers() -> list[Signer]:
    organization = Organization.objects.create(name="Acme", plan="free")
    application = Application.objects.create(
        organization=organization, environment="sandbox", name="x", webhook_secret_encrypted=b""
    )
    request = SignatureRequest.objects.create(
        organization=organization,
        environment="sandbox",
        application=application,
        mode="parallel",
        validity_days=1,
        expires_at=clock.now() + timedelta(days=1),
    )
    return [
        Signer.objects.create(
            request=request, first_name="A", last_name="B", email="a@b.example", order=n, token_salt=new_salt()
        )
        for n in (1, 2)
    ]


def test_each_token_opens_its_own_signer(signers: list[Signer]) -> None:
    assert [signer_of(token(signer)) for signer in signers] == signers
    assert token(signers[0]) != token(signers[1])
    assert signing_url(signers[0]).endswith(f"/sign/{token(signers[0])}")


def test_any_other_text_opens_nothing(signers: list[Signer]) -> None:
    right = token(signers[0])
    other_salt = Signer(pk=signers[0].pk, token_salt=new_salt())
    huge = tokens.base64url(b"\xff" * 32)
    wrong = ["", right[:-1], right + "A", right[:20] + "é" + right[21:], "!" * 43, token(other_salt), huge]
    for position in range(len(right)):
        changed = "A" if right[position] != "A" else "B"
        wrong.append(right[:position] + changed + right[position + 1 :])
    assert [text for text in wrong if signer_of(text)] == []
