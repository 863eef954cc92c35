"""What journal, proof and start say of the key, wherever it lives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import seal
from paraph.kernel.errors import DomainError
from paraph.operations.check.sealing import sealing
from paraph.pdf.verification.proof_file import evidence_of
from paraph.storage import store
from tests.factories import finish, scene, sign
from tests.keys.certified_keys import ALGORITHMS, Kind, make_key, make_root
from tests.keys.kinds import Place, Placed, placed
from tests.keys.kms_service import KmsServer, fault, kms_server
from tests.keys.soft_tokens import module, remove_token


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
def test_a_seal_waits_for_a_lost_token(
    configure: Callable[[Placed], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault that passes: nothing is half made, the job may come again, and the cause is told."""
    made = scene(environment="production")
    with placed("pkcs11", "p-256", tmp_path, monkeypatch) as key:
        configure(key)
        sealing_context().keys("production")
        sign(made)
        remove_token(unquote(key.address.partition("token=")[2].partition(";")[0]))
        with pytest.raises(DomainError) as refused:
            seal(made.request_documents[0].pk)
    assert refused.value.code == "unavailable" and "shows no token" in refused.value.message
    assert SealingFailure.objects.get().cause == refused.value.message
    assert not SealedDocument.objects.exists()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("pkcs11:token=absent;object=seal?module-path={module}", "shows no token with token"),
        ("pkcs11:object=seal?module-path=/nowhere.so", "The PKCS#11 module /nowhere.so does not exist."),
        ("pkcs11:object=seal", "is no address of a PKCS#11 key"),
        ("{arn}", "cannot be used: AccessDeniedException"),
    ],
)
def test_a_key_that_cannot_be_used_fails_the_check_of_the_start_with_one_sentence(
    address: str, sentence: str, configure: Callable[[Placed], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root()
    chain = root.chain(tmp_path, make_key("p-256").public_key())
    with kms_server(monkeypatch) as server:
        server.faults += [fault(400, "AccessDeniedException")] * 2
        configure(Placed("file", address.format(module=module(), arn=server.arn), chain, "", root))
        outcome = sealing()
    assert outcome.status == "failed"
    assert sentence in outcome.sentence and "\n" not in outcome.sentence


@pytest.mark.django_db
def test_the_start_seals_with_the_key_for_real(
    configure: Callable[[Placed], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kms_server(monkeypatch) as server:
        configure(_of(server, tmp_path))
        outcome = sealing()
        assert outcome.status == "warning" and "verified at the level B-T" in outcome.sentence
        assert "the certificate names nobody who could be asked" in outcome.sentence
        server.faults += [fault(400, "AccessDeniedException", "no kms:Sign")]
        outcome = sealing()
        assert outcome.status == "failed" and "no kms:Sign" in outcome.sentence


def _of(server: KmsServer, folder: Path) -> Placed:
    root = make_root()
    return Placed("kms", server.arn, root.chain(folder, server.key.public_key()), "", root)
