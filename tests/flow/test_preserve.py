"""What seals need from others. Timestamps beside sealed files: late ones, renewals, and what keeps them waiting.
Statuses of certificates: fetched over HTTP, kept, renewed, and sealed in. Keys in a token, at AWS KMS and a provider:
what journal, proof, page and start say about them, and what is called qualified."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from cryptography import x509

from paraph import words
from paraph.evidence import sealed_files
from paraph.evidence.models import CertificateStatus, KeptTimestamp, ProofFile, SealedDocument, SealingFailure
from paraph.flow.sealing import preserve
from paraph.flow.sealing.context import (
    FetchedStatuses,
    development,
    last_authority_chain,
    refresh_statuses,
    sealing_context,
)
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sealing.preserve import preserve_due
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import csc_provider
from paraph.keys.development import root_file
from paraph.operations.check.backlog import kept_timestamps
from paraph.operations.check.sealing import sealing
from paraph.operations.request_state import request_evidence
from paraph.pdf.pki.revocation import Revoked
from paraph.pdf.pki.statuses import LongTerm, StatusUnavailable
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.sealing.seal import seal as seal_pdf
from paraph.pdf.timestamps.detached_timestamps import read_timestamps_file
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verification.proof_file import evidence_of
from paraph.pdf.verification.verify import verify
from paraph.storage import store
from paraph.tenants.models import Role
from tests.dashboard.conftest import just_logged_in
from tests.factories import Scene, finish, scene, sign
from tests.flow.issuer import HOLDS, Issuer, issuer
from tests.flow.test_seal import Dead, completed, silent
from tests.independent import assert_cades, page_text
from tests.keys.certified_keys import ALGORITHMS, Kind, make_key, make_root
from tests.keys.csc_service import CLIENT, RSA_PSS, Provider, provider
from tests.keys.csc_service import fault as csc_fault
from tests.keys.kinds import Place, Placed, placed
from tests.keys.kms_service import fault, kms_server
from tests.pdf.levels import level_by_pyhanko
from tests.pdf.pdf_factory import paper, text
from tests.pdf.pki.test_qualified import COMPLIANCE, DEVICE, ESEAL, qualified
from tests.pdf.sealed_files import DOCUMENT
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db
Begin = Callable[..., Provider]


def sealed_without_timestamps(monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = completed()
    with monkeypatch.context() as dead:
        dead.setattr("paraph.flow.sealing.finalize.sealing_context", silent)
        seal(made.request_documents[0].pk)
        prove(made.request.pk)
    return made


def move(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + by)


def test_files_without_a_timestamp_get_one_later_and_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed_without_timestamps(monkeypatch)
    files: list[sealed_files.SealedFile] = [SealedDocument.objects.get(), ProofFile.objects.get()]
    contents, journal = [store.get(file.object_key) for file in files], made.events()
    assert preserve_due() == 2
    assert [store.get(file.object_key) for file in files] == contents and made.events() == journal
    exported = request_evidence(made.request.pk)
    assert [file["name"] for file in json.loads(exported)["files"]] == ["contract-1.pdf", "proof"]
    for content in contents:
        found = verify(content, sealing_context().roots("sandbox"), read_timestamps_file(exported, content))
        assert found.ok and len(found.detached_timestamps) == 1 and found.level == "B-B"
    assert preserve_due() == 0


def test_renewals_come_before_the_newest_ages(monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()
    seal(made.request_documents[0].pk)
    row = SealedDocument.objects.get()
    assert row.timestamp_due_at is not None
    ends = clock.now() + timedelta(days=3650)
    assert timedelta(days=89) < ends - row.timestamp_due_at < timedelta(days=91)
    assert preserve_due() == 0
    move(monkeypatch, row.timestamp_due_at - clock.now() + timedelta(hours=1))
    assert preserve_due() == 1 and preserve_due() == 0
    again = SealedDocument.objects.get()
    assert again.timestamp_due_at is not None and again.timestamp_due_at > clock.now()
    move(monkeypatch, again.timestamp_due_at - clock.now() + timedelta(minutes=1))
    assert preserve_due() == 1
    assert list(KeptTimestamp.objects.values_list("position", flat=True)) == [1, 2]
    content = store.get(row.object_key)
    kept = sealed_files.records_of(row.object_key)
    assert len(verify(content, sealing_context().roots("sandbox"), kept).detached_timestamps) == 2


def test_while_nobody_answers_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_without_timestamps(monkeypatch)
    asked: list[bytes] = []

    class Counting(Dead):
        def answer(self, request: bytes, timeout: float) -> bytes:
            asked.append(request)
            return b""

    with monkeypatch.context() as dead:
        dead.setattr(preserve, "sealing_context", lambda: silent(Counting))
        assert preserve_due() == 0 and len(asked) == 2  # a document and a proof
    assert preserve_due() == 0
    move(monkeypatch, timedelta(minutes=16))
    assert preserve_due() == 2


def test_a_file_that_storage_changed_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_without_timestamps(monkeypatch)
    store.put(SealedDocument.objects.get().object_key, b"something else")
    assert preserve_due() == 1
    assert KeptTimestamp.objects.get().object_key == ProofFile.objects.get().object_key


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_share_a_backlog_and_stamp_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [sealed_without_timestamps(monkeypatch) for _ in range(3)]
    keys, at_once = list[str](), Barrier(2, timeout=60)

    def slow(object_key: str) -> Any:
        keys.append(object_key)
        if len(keys) <= 2:
            at_once.wait()  # both have claimed a file, and neither has a timestamp yet
        return original(object_key)

    original = sealed_files.records_of
    monkeypatch.setattr(sealed_files, "records_of", slow)
    assert sum(beside_each_other(preserve_due, preserve_due)) == 2 * len(made)
    assert len(keys) == len(set(keys)) == KeptTimestamp.objects.count() == 2 * len(made)


def test_where_no_timestamps_are_wanted_none_are_kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sealing_context()  # made once per process: make it before the setting changes
    monkeypatch.setattr(settings.PARAPH, "seal_level", "B-B")
    sealed_without_timestamps(monkeypatch)
    assert preserve_due() == 0 and SealedDocument.objects.get().timestamp_due_at is None


def test_the_check_tells_what_is_late_tried_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timestamps are late where no authority answers, or where more are due than workers can make."""
    sealed_without_timestamps(monkeypatch)
    stages = [(0, "ok", ""), (0.05, "warning", "1 sealed file"), (2, "warning", "2 days"), (10, "failed", "10 days")]
    for days, status, says in stages:
        SealedDocument.objects.update(timestamp_due_at=clock.now() - timedelta(days=days))
        outcome = kept_timestamps()
        assert outcome.status == status and says in outcome.sentence, days
        files, seconds = sealed_files.overdue()
        assert files == (1 if days else 0) and seconds == pytest.approx(days * 86_400, abs=60)
    with monkeypatch.context() as dead:
        dead.setattr(preserve, "sealing_context", silent)
        assert preserve_due() == 0
    assert sealed_files.overdue()[1] == pytest.approx(10 * 86_400, abs=60), "tried, and late all the same"
    move(monkeypatch, timedelta(minutes=16))
    assert preserve_due() == 2 and sealed_files.overdue() == (0, 0)


@pytest.fixture
def trust() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


def sealed(trust: Issuer, *others: Issuer) -> SealedPdf:
    issuers = (trust, *others)
    return seal_pdf(
        paper(text("A contract", 72, 700)),
        key=trust.sealing,
        purpose=DOCUMENT,
        timestamping=Timestamping([each.timestamps for each in issuers], [each.root_der for each in issuers]),
        long_term=LongTerm([FetchedStatuses()]),
        at=clock.now(),
    )


def test_a_seal_with_certificates_of_others_reaches_the_highest_level(trust: Issuer) -> None:
    result = sealed(trust)
    assert (result.level, result.level_reasons) == ("B-LTA", ())
    assert verify(result.content, [trust.root_der]).level == "B-LTA"
    assert sorted(trust.asked) == ["ocsp", "ocsp"]
    again = sealed(trust)
    assert again.level == "B-LTA" and len(trust.asked) == 2


@pytest.mark.parametrize(("online", "is_moved"), [("crl", False), ("crl", True), ("ocsp", True)])
def test_without_a_responder_the_list_serves_and_redirects_are_followed(
    trust: Issuer, online: str, is_moved: bool
) -> None:
    trust.online, trust.is_moved = {online}, is_moved
    result = sealed(trust)
    assert result.level == verify(result.content, [trust.root_der]).level == "B-LTA"
    if not is_moved:
        assert level_by_pyhanko(result.content, trust.root_der) == "B-LTA"
        assert trust.asked[:2] == ["ocsp", "crl"]


def test_a_list_that_is_about_other_certificates_is_not_sealed_in(trust: Issuer) -> None:
    trust.online, trust.list_states = {"crl"}, x509.DeltaCRLIndicator(1)
    result = sealed(trust)
    assert result.level == verify(result.content, [trust.root_der]).level == "B-T"
    assert f"{trust.url}crl gave no answer that proves its status" in result.level_reasons[0]
    assert b"/CRLs" not in result.content
    trust.revoked_at = clock.now() - timedelta(hours=1)
    CertificateStatus.objects.all().delete()
    with pytest.raises(DomainError, match="Trust Service Seal was revoked on"):
        sealed(trust)


def test_nobody_answers_and_nobody_is_asked_again_at_once(trust: Issuer) -> None:
    trust.online = set()
    for _ in range(3):
        result = sealed(trust)
        assert result.level == verify(result.content, [trust.root_der]).level == "B-T"
        assert 'The status of "Trust Service Seal" is not known: ' in result.level_reasons[0]
        assert "the answer has HTTP status 503" in result.level_reasons[0]
    assert sorted(trust.asked) == ["crl", "crl", "ocsp", "ocsp"]


def test_what_is_due_is_renewed(trust: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    FetchedStatuses().statuses(trust.chain)
    assert refresh_statuses() == 0
    first = CertificateStatus.objects.get().holds_until
    move(monkeypatch, timedelta(days=2))
    trust.online = set()
    assert refresh_statuses() == 0 and FetchedStatuses().statuses(trust.chain)
    trust.online = {"ocsp", "crl"}
    assert refresh_statuses() == 0  # not so soon after a failure
    move(monkeypatch, timedelta(minutes=11))
    assert refresh_statuses() == 1
    row = CertificateStatus.objects.get()
    assert row.holds_until is not None and first is not None and row.holds_until > first and row.last_error == ""
    move(monkeypatch, timedelta(days=70))
    assert refresh_statuses() == 0  # forgotten: no seal has needed it since


def test_what_lapsed_is_not_used(trust: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FetchedStatuses()
    kept.statuses(trust.chain)
    trust.online = set()
    move(monkeypatch, HOLDS)
    for source in (kept, FetchedStatuses()):
        with pytest.raises(StatusUnavailable, match="is not known"):
            source.statuses(trust.chain)


@pytest.mark.parametrize("online", ["ocsp", "crl"])
def test_a_revoked_key_seals_nothing(trust: Issuer, online: str) -> None:
    trust.online, trust.revoked_at = {online}, clock.now() - timedelta(hours=1)
    with pytest.raises(DomainError, match="The sealing key must not be used: Trust Service Seal was revoked on"):
        sealed(trust)
    with pytest.raises(Revoked):
        FetchedStatuses().statuses(trust.chain).proves(trust.chain, clock.now())


def test_the_address_guard_holds_here_too(trust: Issuer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.PARAPH, "allow_private_addresses", False)
    with pytest.raises(StatusUnavailable, match=r"has an address that is not public"):
        FetchedStatuses().statuses(trust.chain)
    assert trust.asked == []


@pytest.mark.parametrize("others", [0, 1])
def test_a_revoked_authority_gives_no_timestamps(trust: Issuer, others: int) -> None:
    with issuer() as second:
        trust.revoked_at = clock.now() - timedelta(hours=1)
        trust.revoked = trust.timestamp_certificate
        result = sealed(trust, *[second] * others)
        assert "Trust Service Time was revoked on" in result.timestamp_failures[0]
        found = verify(result.content, [trust.root_der, second.root_der])
        assert found.ok and result.level == found.level == ("B-LTA" if others else "B-B")


def test_a_seal_waits_a_moment_and_no_longer(trust: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.flow.sealing.context._SEAL_WAIT_SECONDS", 0.3)
    trust.goes_on.clear()
    result = sealed(trust)
    trust.goes_on.set()
    assert result.level == "B-T" and "no complete answer within" in result.level_reasons[0]
    assert CertificateStatus.objects.filter(due_at__gt=clock.now()).count() == 2


def test_a_new_process_knows_the_authority_from_the_last_seal(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert last_authority_chain() == ()
    made = completed()
    seal(made.request_documents[0].pk)
    chain = last_authority_chain()
    assert chain == (development().timestamp_key.certificate, development().root)
    monkeypatch.setattr(settings.PARAPH, "timestamp_authorities", ["http://127.0.0.1:1/"])
    monkeypatch.setattr(settings.PARAPH, "timestamp_roots", root_file(settings.DATA_DIR / "keys"))
    fresh = sealing_context.__wrapped__().long_term
    assert fresh is not None and not fresh.authority_chain
    key = sealing_context().keys("sandbox").documents
    assert fresh.collect_expected((key.certificate, *key.chain)).missing == () and fresh.authority_chain == chain


@pytest.fixture
def begin(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """A function that starts a provider whose certificate has given statements, and sets it for production."""
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


def test_any_other_is_not(begin: Begin, tmp_path: Path) -> None:
    begin(DEVICE, ESEAL)
    made = finished()
    assert not SealedDocument.objects.get().is_qualified
    assert "ualified" not in proof_text(tmp_path) + page(made)


def test_a_check_names_provider_credential_and_statements(begin: Begin) -> None:
    begin(COMPLIANCE, DEVICE, ESEAL)
    outcome = sealing()
    stated = "whose certificate states QcCompliance, QcSSCD, QcType eseal, in "
    assert f"by ACME Trust Services with its credential GX0112348, {stated}" in outcome.sentence
    assert 'with the key of "CN=Seal of Acme,' in outcome.sentence or outcome.status == "warning"


def test_a_process_pays_for_one_look_a_day(begin: Begin) -> None:
    """``/metrics`` checks the key every five minutes, and a provider charges for signatures."""
    service = begin()
    first = sealing()
    assert service.signed == 1
    second = sealing()
    assert second == first and service.signed == 1 and service.asked[-1] == "credentials/info"
    service.credential["key"]["status"] = "disabled"
    third = sealing()
    assert third.status == "failed" and "key.status" in third.sentence and service.signed == 1


def test_a_seal_waits_for_its_provider(begin: Begin) -> None:
    """A passing fault is no word about the file: nothing is half made, the cause is noted, the job can run again."""
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


def test_a_provider_that_signs_by_pss_alone(begin: Begin, tmp_path: Path) -> None:
    """Its RSA certificate would allow PKCS #1 v1.5 as well."""
    service = begin(kind="rsa")
    service.credential["key"]["algo"] = [RSA_PSS]
    outcome = sealing()
    assert outcome.status != "failed", outcome.sentence
    finished()
    sealed = SealedDocument.objects.get()
    assert sealed.facts["signing_algorithm"] == "RSASSA_PSS_SHA_256"
    (tmp_path / "sealed.pdf").write_bytes(store.get(sealed.object_key))
    assert_cades(tmp_path / "sealed.pdf", tmp_path / "root.pem", 0)


def configure(settings: Any, key: Placed) -> None:
    fields = {"sealing_key": key.address, "sealing_certificate": key.chain, "sealing_passphrase": key.passphrase}
    settings.PARAPH = settings.PARAPH.model_copy(update=fields)


@pytest.mark.parametrize(("place", "kind"), [("pkcs11", "rsa"), ("kms", "p-256")])
def test_journal_and_proof_name_the_key_that_sealed(
    place: Place, kind: Kind, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with placed(place, kind, tmp_path, monkeypatch) as key:
        configure(settings, key)
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


def test_the_start_seals_with_the_key_for_real(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kms_server(monkeypatch) as server:
        root = make_root()
        chain = root.chain(tmp_path, server.key.public_key())
        configure(settings, Placed("kms", server.arn, chain, "", root))
        outcome = sealing()
        assert outcome.status == "warning" and "verified at the level B-T" in outcome.sentence
        assert "the certificate names nobody who could be asked" in outcome.sentence
        server.faults += [fault(400, "AccessDeniedException", "no kms:Sign")]
        outcome = sealing()
        assert outcome.status == "failed" and "no kms:Sign" in outcome.sentence and "\n" not in outcome.sentence
