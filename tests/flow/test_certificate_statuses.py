"""Statuses of certificates that others issued: asked for over HTTP, kept, renewed, and sealed in."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography import x509

from paraph.evidence.models import CertificateStatus
from paraph.flow.sealing.context import (
    FetchedStatuses,
    development,
    last_authority_chain,
    refresh_statuses,
    sealing_context,
)
from paraph.flow.sealing.finalize import seal as seal_document
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys.development import root_file
from paraph.pdf.pki.revocation import Revoked
from paraph.pdf.pki.statuses import LongTerm, StatusUnavailable
from paraph.pdf.sealing.seal import SealedPdf, seal
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verification.verify import verify
from tests.flow.issuer import HOLDS, Issuer, issuer
from tests.flow.test_seal import completed
from tests.pdf.levels import level_by_pyhanko
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import DOCUMENT

pytestmark = pytest.mark.django_db


@pytest.fixture
def trust() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


def move(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    now: datetime = clock.now() + by
    monkeypatch.setattr(clock, "now", lambda: now)


def sealed(trust: Issuer, *, archive: bool = True) -> SealedPdf:
    return seal(
        paper(text("A contract", 72, 700)),
        key=trust.sealing,
        purpose=DOCUMENT,
        timestamping=Timestamping([trust.timestamps], [trust.root_der]),
        long_term=LongTerm([FetchedStatuses()], archive),
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
    assert refresh_statuses() == 0  # forgotten: nobody asks any more


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
        authorities = [trust.timestamps, *[second.timestamps] * others]
        result = seal(
            paper(text("A contract", 72, 700)),
            key=trust.sealing,
            purpose=DOCUMENT,
            timestamping=Timestamping(authorities, [trust.root_der, second.root_der]),
            long_term=LongTerm([FetchedStatuses()]),
            at=clock.now(),
        )
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
    seal_document(made.request_documents[0].pk)
    chain = last_authority_chain()
    assert chain == (development().timestamp_key.certificate, development().root)
    monkeypatch.setattr(settings.PARAPH, "timestamp_authorities", ["http://127.0.0.1:1/"])
    monkeypatch.setattr(settings.PARAPH, "timestamp_roots", root_file(settings.DATA_DIR / "keys"))
    fresh = sealing_context.__wrapped__().long_term
    assert fresh is not None and not fresh.authority_chain
    key = sealing_context().keys("sandbox").documents
    assert fresh.collect_expected((key.certificate, *key.chain)).missing == () and fresh.authority_chain == chain
