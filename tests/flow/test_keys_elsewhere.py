"""Seals by a key in a token, at AWS KMS and at a provider of remote seals: what journal, proof, page and start say of
it, and what is called qualified."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from paraph import words
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import seal
from paraph.kernel.errors import DomainError
from paraph.keys import csc_provider
from paraph.operations.check.sealing import sealing
from paraph.pdf.verification.proof_file import evidence_of
from paraph.storage import store
from paraph.tenants.models import Role
from tests.dashboard.conftest import just_logged_in
from tests.factories import Scene, finish, scene, sign
from tests.independent import assert_cades, page_text
from tests.keys.certified_keys import ALGORITHMS, Kind, make_key, make_root
from tests.keys.csc_service import CLIENT, RSA_PSS, Provider, provider
from tests.keys.csc_service import fault as csc_fault
from tests.keys.kinds import Place, Placed, placed
from tests.keys.kms_service import fault, kms_server
from tests.pdf.pki.test_qualified import COMPLIANCE, DEVICE, ESEAL, qualified

Begin = Callable[..., Provider]


@pytest.fixture
def begin(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """A provider whose certificate has these statements, set as production's."""
    monkeypatch.setattr(csc_provider, "_PAUSES", (0.0, 0.0))
    with ExitStack() as stack:

        def begun(*parts: bytes, kind: Kind = "p-256") -> Provider:
            root, key = make_root(), make_key(kind)
            chain = [qualified(*parts, root=root, public=key.public_key())]
            made = provider("v2", tmp_path, monkeypatch, key=key, root=root, certificates=chain)
            service = stack.enter_context(made)
            fields = {"sealing_key": service.address, "sealing_certificate": tmp_path / "root.pem"}
            client = {"csc_client_id": CLIENT.id, "csc_client_secret": CLIENT.secret, "csc_pin": CLIENT.pin}
            settings.PARAPH = settings.PARAPH.model_copy(update=fields | client)
            return service

        yield begun


def finished() -> Scene:
    return finish(scene(environment="production"))


def proof_text(folder: Path) -> str:
    (folder / "proof.pdf").write_bytes(store.get(ProofFile.objects.get().object_key))
    return " ".join(page_text(folder / "proof.pdf").split())


def page(made: Scene) -> str:
    organization = made.request.organization
    client = just_logged_in(organization, Role.MEMBER)
    return str(client.get(f"/app/{organization.pk}/requests/{made.request.pk}").content.decode())


@pytest.mark.django_db
def test_a_qualified_seal_is_called_one(begin: Begin, tmp_path: Path) -> None:
    service = begin(COMPLIANCE, DEVICE, ESEAL)
    made = finished()
    assert service.signed == 2 and service.asked.count("credentials/authorize") == 2
    facts = [entry.stated for entry in made.entries() if "kms_key_id" in entry.stated]
    assert {fact["kms_key_id"] for fact in facts} == {service.address}
    told = {body["clientData"] for method, body in service.calls if method == "signatures/signHash"}
    assert {fact["kms_request_id"] for fact in facts} == told and len(told) == 2
    assert SealedDocument.objects.get().is_qualified and ProofFile.objects.get().is_qualified
    assert words.of("proof", "en")["qualified_seal"] in proof_text(tmp_path)
    assert "· qualified electronic seal, as its certificate states" in page(made)


@pytest.mark.django_db
@pytest.mark.parametrize("parts", [(COMPLIANCE, ESEAL), (DEVICE, ESEAL), ()])
def test_any_other_is_not(begin: Begin, tmp_path: Path, parts: tuple[bytes, ...]) -> None:
    begin(*parts)
    made = finished()
    assert not SealedDocument.objects.get().is_qualified
    assert "ualified" not in proof_text(tmp_path) + page(made)


@pytest.mark.django_db
def test_a_check_names_provider_credential_and_statements(begin: Begin) -> None:
    begin(COMPLIANCE, DEVICE, ESEAL)
    outcome = sealing()
    stated = "whose certificate states QcCompliance, QcSSCD, QcType eseal, in "
    assert f"by ACME Trust Services with its credential GX0112348, {stated}" in outcome.sentence
    assert 'with the key of "CN=Seal of Acme,' in outcome.sentence or outcome.status == "warning"


@pytest.mark.django_db
def test_a_process_pays_for_one_look_a_day(begin: Begin) -> None:
    """``/metrics`` looks every five minutes."""
    service = begin()
    first = sealing()
    assert service.signed == 1
    second = sealing()
    assert second == first and service.signed == 1 and service.asked[-1] == "credentials/info"
    service.credential["key"]["status"] = "disabled"
    third = sealing()
    assert third.status == "failed" and "key.status" in third.sentence and service.signed == 1


@pytest.mark.django_db
def test_a_seal_waits_for_its_provider(begin: Begin) -> None:
    """A fault that passes: nothing is half made, the job may come again, and the cause is told."""
    service = begin()
    made = scene(environment="production")
    sign(made)
    sealing_context().keys("production")
    service.faults["signatures/signHash"] = [csc_fault(503)] * 3
    with pytest.raises(DomainError) as refused:
        seal(made.request_documents[0].pk)
    assert refused.value.code == "unavailable"
    assert SealingFailure.objects.get().cause == refused.value.message
    assert not SealedDocument.objects.exists()
    seal(made.request_documents[0].pk)
    assert SealedDocument.objects.exists()


@pytest.mark.django_db
def test_a_provider_that_signs_by_pss_alone(begin: Begin, tmp_path: Path) -> None:
    """With a certificate that would take either form."""
    service = begin(kind="rsa")
    service.credential["key"]["algo"] = [RSA_PSS]
    outcome = sealing()
    assert outcome.status != "failed", outcome.sentence
    finished()
    sealed = SealedDocument.objects.get()
    assert sealed.facts["signing_algorithm"] == "RSASSA_PSS_SHA_256"
    (tmp_path / "sealed.pdf").write_bytes(store.get(sealed.object_key))
    assert_cades(tmp_path / "sealed.pdf", tmp_path / "root.pem", 0)


@pytest.fixture
def configure(settings: Any) -> Callable[[Placed], None]:
    def chosen(key: Placed) -> None:
        fields = {"sealing_key": key.address, "sealing_certificate": key.chain, "sealing_passphrase": key.passphrase}
        settings.PARAPH = settings.PARAPH.model_copy(update=fields)

    return chosen


@pytest.mark.django_db
@pytest.mark.parametrize(("place", "kind"), [("pkcs11", "rsa"), ("kms", "p-256")])
def test_journal_and_proof_name_the_key_that_sealed(
    place: Place, kind: Kind, configure: Callable[[Placed], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with placed(place, kind, tmp_path, monkeypatch) as key:
        configure(key)
        made = finish(scene(documents=2, environment="production"))
        named = key.open().key_id
    facts = [entry.stated for entry in made.entries() if "kms_key_id" in entry.stated]
    assert len(facts) == 3  # two documents and the proof
    assert {fact["kms_key_id"] for fact in facts} == {named}
    assert {fact["signing_algorithm"] for fact in facts} == {ALGORITHMS[kind]}
    requests = {fact["kms_request_id"] for fact in facts}
    assert len(requests) == 3 if place == "kms" else requests == {""}
    evidence = evidence_of(store.get(ProofFile.objects.get().object_key))
    assert evidence is not None
    for sealed, document in zip(SealedDocument.objects.order_by("id"), evidence["documents"], strict=True):
        assert document["seal"]["kms_key_id"] == named
        assert document["seal"]["kms_request_id"] == sealed.facts["kms_request_id"]


@pytest.mark.django_db
def test_the_start_seals_with_the_key_for_real(
    configure: Callable[[Placed], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kms_server(monkeypatch) as server:
        root = make_root()
        chain = root.chain(tmp_path, server.key.public_key())
        configure(Placed("kms", server.arn, chain, "", root))
        outcome = sealing()
        assert outcome.status == "warning" and "verified at the level B-T" in outcome.sentence
        assert "the certificate names nobody who could be asked" in outcome.sentence
        server.faults += [fault(400, "AccessDeniedException", "no kms:Sign")]
        outcome = sealing()
        assert outcome.status == "failed" and "no kms:Sign" in outcome.sentence and "\n" not in outcome.sentence
