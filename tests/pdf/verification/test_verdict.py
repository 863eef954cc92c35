"""The verdict in the words of ETSI EN 319 102-1: each sub-indication by a real file."""

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, get_args

import pytest
from asn1crypto import cms
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st

from lab.fuzz.altered.authorities import authority as fuzzed
from lab.fuzz.altered.genuine import GENUINE, genuine
from paraph import words
from paraph.kernel import clock
from paraph.keys.signing_key import LocalKey, SigningKey
from paraph.pdf.report import EvidenceCheck, Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.timestamps.timestamp import Timestamping, stamp_time
from paraph.pdf.verdict import Fault, Indication, SubIndication, Verdict, Word, decide
from paraph.pdf.verification.verify import verify
from tests.independent import signature_and_token
from tests.pdf import forge, revisions
from tests.pdf.forge import Forge
from tests.pdf.forged_seals import ROOT, SealForge, with_value
from tests.pdf.pdf_factory import flipped
from tests.pdf.pki.test_strength import key_of, made, weak_rsa
from tests.pdf.revisions import archived, by_list, revised, revoking, store
from tests.pdf.sealed_files import LETTER, OWN, authority, sealed, sealed_now, stamped, timestamping
from tests.pdf.surroundings import BROKEN_SIGNATURES, signed_by
from tests.pdf.verification.test_revocation_scope import LEAF, MIDDLE, entry, found_with
from tests.pdf.verification.test_revocation_scope import made as list_about

STRANGER = ROOT
DAY, HOUR = timedelta(days=1), timedelta(hours=1)

SHA256 = bytes.fromhex("608648016503040201")


def with_another_signature(value: bytes) -> bytes:
    """Flip a bit in the last byte but one of the signature in a CMS."""
    signature = cms.ContentInfo.load(value)["content"]["signer_infos"][0]["signature"].native
    return value.replace(signature, flipped(signature, len(signature) - 2))


def with_another_digit(pdf: bytes, place: int) -> bytes:
    return pdf[:place] + (b"1" if pdf[place : place + 1] != b"1" else b"2") + pdf[place + 1 :]


def timestamp_altered() -> bytes:
    """Change the last digit of the token, which belongs to its signature."""
    _, token = signature_and_token(stamped())
    digits = token.hex().encode()
    return with_another_digit(stamped(), stamped().index(digits) + len(digits) - 1)


def archive_altered() -> bytes:
    archive = archived(stamped())
    end = int(re.findall(rb"/ByteRange \[\d+ \d+ (\d+) ", archive)[-1]) - 1
    return with_another_digit(archive, len(archive[:end].rstrip(b"0")) - 1)


def revoked(before: bytes, ago: timedelta, key: SigningKey = OWN.sealing_key) -> bytes:
    """Seal ``before``, and add an archived list that revokes the certificate of ``key``."""
    return archived(revised(sealed_now(before), store(crls=[revoking(key.certificate, clock.now() - ago)])))


def with_weak_key() -> Verification:
    links = made({"leaf": weak_rsa})
    return verify(sealed_now(key=key_of(links, weak_rsa())), [OWN.root, forge.der_of(links[-1])])


def beside(stamped_digest: bytes) -> Verification:
    stamp, _ = stamp_time(stamped_digest, timestamping())
    assert stamp is not None
    return verify(stamped(), [OWN.root], [DetachedTimestamp(stamp.token)])


def ours(pdf: bytes | Callable[[], bytes], *, roots: Sequence[bytes] = (OWN.root,), **asked: Any) -> Verification:
    return verify(pdf if isinstance(pdf, bytes) else pdf(), roots, **asked)


def forged(**wrong: Any) -> Verification:
    return verify(SealForge(**wrong).sealed(), [ROOT])


CODE = ExtendedKeyUsageOID.CODE_SIGNING
Case = tuple[Callable[[], Verification], SubIndication]
PASSED: dict[str, Case] = {
    "as it was sealed": (lambda: ours(stamped()), ""),
    "revoked after the timestamp": (lambda: ours(revoked(LETTER, -HOUR)), ""),
    "an authority that was revoked after the timestamp": (lambda: ours(revoked(LETTER, -HOUR, OWN.timestamp_key)), ""),
    "a timestamp beside it": (lambda: beside(hashlib.sha256(stamped()).digest()), ""),
    "by somebody else": (forged, ""),
}
FAILED: dict[str, Case] = {
    "a byte of the content": (lambda: ours(flipped(stamped(), 200)), "HASH_FAILURE"),
    "a byte of the signature": (
        lambda: ours(with_value(stamped(), with_another_signature)),
        "SIG_CRYPTO_FAILURE",
    ),
    "a byte of the timestamp's signature": (partial(ours, timestamp_altered), "SIG_CRYPTO_FAILURE"),
    "a timestamp of something else": (
        lambda: forged(authorities=[Forge()], stamped=[lambda _: b"else"]),
        "HASH_FAILURE",
    ),
    "a byte of the archive timestamp's signature": (partial(ours, archive_altered), "FORMAT_FAILURE"),
    "half of the CMS": (lambda: ours(with_value(stamped(), lambda value: value[:400])), "FORMAT_FAILURE"),
    "a byte behind the end": (lambda: ours(stamped() + b"%"), "FORMAT_FAILURE"),
    "another page": (lambda: ours(revised(stamped(), revisions.content)), "FORMAT_FAILURE"),
    "another page, sealed again": (
        lambda: ours(sealed(revised(stamped(), revisions.content), at=clock.now()).content),
        "FORMAT_FAILURE",
    ),
    "altered, by somebody unknown": (lambda: ours(flipped(stamped(), 200), roots=[STRANGER]), "HASH_FAILURE"),
    "revoked before an archive timestamp that it covers": (lambda: ours(revoked(archived(LETTER), DAY)), "REVOKED"),
    "made before its certificate was": (
        lambda: forged(certificate={"start": DAY, "end": 2 * DAY}, authorities=[Forge()]),
        "NOT_YET_VALID",
    ),
}
INDETERMINATE: dict[str, Case] = {
    "an unknown root": (lambda: ours(stamped(), roots=[STRANGER]), "NO_CERTIFICATE_CHAIN_FOUND"),
    "no root": (lambda: ours(stamped(), roots=[]), "NO_CERTIFICATE_CHAIN_FOUND"),
    "an unknown timestamp authority": (
        lambda: ours(sealed_now(timestamping=Timestamping([Forge()], [ROOT]))),
        "NO_CERTIFICATE_CHAIN_FOUND",
    ),
    "an archive timestamp by an unknown authority": (
        lambda: ours(archived(stamped(), Forge())),
        "SIG_CONSTRAINTS_FAILURE",
    ),
    "expired, and no timestamp": (lambda: forged(certificate={"start": -9 * DAY, "end": -DAY}), "OUT_OF_BOUNDS_NO_POE"),
    "not valid yet, and no timestamp": (
        lambda: forged(certificate={"start": DAY, "end": 9 * DAY}),
        "OUT_OF_BOUNDS_NO_POE",
    ),
    "expired before the timestamp": (
        lambda: forged(certificate={"start": -9 * DAY, "end": -DAY}, authorities=[Forge()]),
        "OUT_OF_BOUNDS_NO_POE",
    ),
    "revoked before the timestamp": (lambda: ours(revoked(LETTER, DAY)), "REVOKED_NO_POE"),
    "an authority that was revoked before the timestamp": (
        lambda: ours(revoked(LETTER, DAY, OWN.timestamp_key)),
        "REVOKED_NO_POE",
    ),
    "an issuer that was revoked": (
        lambda: found_with([list_about(MIDDLE, [entry(MIDDLE.serial_number)]), list_about(LEAF)]),
        "REVOKED_CA_NO_POE",
    ),
    "RSA with 1024 bits": (with_weak_key, "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"),
    "SHA-1": (lambda: forged(hash_="sha1"), "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"),
    "an unknown hash": (
        lambda: ours(with_value(stamped(), lambda value: value.replace(SHA256, SHA256[:-1] + b"\x63"))),
        "CRYPTO_CONSTRAINTS_FAILURE",
    ),
    "a certificate for programs": (lambda: forged(certificate={"purposes": [CODE]}), "CHAIN_CONSTRAINTS_FAILURE"),
    "not by whom it should be": (lambda: ours(stamped(), signers=["Mallory"]), "CHAIN_CONSTRAINTS_FAILURE"),
    "another certificate named": (lambda: forged(first_named=b"another"), "NO_SIGNING_CERTIFICATE_FOUND"),
    "content of another type": (lambda: forged(content_type="1.2.840.113549.1.7.6"), "SIG_CONSTRAINTS_FAILURE"),
    "long-term data that nothing covers": (
        lambda: ours(revised(stamped(), by_list(clock.now()))),
        "SIG_CONSTRAINTS_FAILURE",
    ),
    "an authority that must not be relied on": (
        lambda: forged(authorities=[Forge(wrong_certificate={"critical": False})]),
        "NO_POE",
    ),
    "a timestamp beside it of something else": (lambda: beside(bytes(32)), "NO_POE"),
    "no seal": (lambda: ours(LETTER), "SIGNED_DATA_NOT_FOUND"),
    "a field that is filled with zeros": (
        lambda: ours(signed_by(BROKEN_SIGNATURES["/Contents of zeros"])),
        "SIGNED_DATA_NOT_FOUND",
    ),
    "no PDF": (lambda: ours(b"hello"), "SIGNED_DATA_NOT_FOUND"),
}


TABLES: dict[Indication, dict[str, Case]] = {
    "TOTAL-PASSED": PASSED,
    "TOTAL-FAILED": FAILED,
    "INDETERMINATE": INDETERMINATE,
}


@pytest.mark.parametrize(("indication", "kind"), [(each, kind) for each, table in TABLES.items() for kind in table])
def test_each_file_is_told_by_its_indication(indication: Indication, kind: str) -> None:
    find, sub_indication = TABLES[indication][kind]
    found = find()
    verdict, told = found.verdict, found.to_json()
    assert (verdict.indication, verdict.sub_indication) == (indication, sub_indication), found.findings
    assert (told["ok"], told["indication"], told["sub_indication"]) == (found.ok, indication, sub_indication)
    assert found.ok == (verdict.word == "holds") == (indication == "TOTAL-PASSED")
    assert found.ok or verdict.why in found.findings
    assert (verdict.word == "unknown") == (indication == "INDETERMINATE")


def test_expired_before_what_it_covers_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timestamp in the file proves that the seal over it was made after its certificate had expired."""
    key = forge.curve_key("ended")
    links = [
        forge.certificate("Ended", key, "Root", forge.curve_key("root"), end=HOUR),
        forge.certificate("Root", forge.curve_key("root"), "Root", forge.curve_key("root"), ca=True, end=90 * DAY),
    ]
    before = archived(LETTER, Forge(info={"gen_time": clock.now() + 2 * HOUR}))
    pdf = sealed(before, key=LocalKey(key, links), at=clock.now()).content
    later = clock.now() + 3 * HOUR
    monkeypatch.setattr(clock, "now", lambda: later)
    found = verify(pdf, [forge.der_of(links[-1]), forge.der_of(forge.root())])
    assert (found.verdict.indication, found.verdict.sub_indication) == ("TOTAL-FAILED", "EXPIRED"), found.findings


def test_each_signature_has_a_verdict_of_its_own() -> None:
    again = sealed(stamped(), key=authority("rsa-3072").sealing_key, at=clock.now()).content
    found = ours(again)
    assert found.verdict.sub_indication == "NO_CERTIFICATE_CHAIN_FOUND"
    own, strange = (report.verdict for report in found.signatures)
    assert own.sub_indication == "SIG_CONSTRAINTS_FAILURE" and strange.sub_indication == "NO_CERTIFICATE_CHAIN_FOUND"
    (own,) = (report.verdict for report in ours(stamped()).signatures)
    assert own == Verdict("TOTAL-PASSED")


def test_no_byte_that_was_changed_is_told_as_an_unknown_root() -> None:
    chance = random.Random(319102)
    value = re.search(rb"/Contents\s*<([0-9a-f]+?)0*>", stamped())
    assert value is not None
    covered = [place for place in chance.sample(range(len(stamped())), 60) if not value.start() <= place < value.end()]
    for place in (*covered, 0, value.start(1) - 1, value.end() - 1, value.end() - 2, len(stamped()) - 1):
        verdict = ours(flipped(stamped(), place, 1 << chance.randrange(7))).verdict
        assert verdict.indication == "TOTAL-FAILED" or verdict.sub_indication == "SIGNED_DATA_NOT_FOUND", place
    for place in chance.sample(range(*value.span(1)), 80):
        verdict = ours(flipped(stamped(), place, 1 << chance.randrange(4))).verdict
        assert verdict.indication != "TOTAL-PASSED", place
        assert verdict.sub_indication not in ("NO_CERTIFICATE_CHAIN_FOUND", "GENERIC"), (place, verdict)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if number % 5 else ()) for number, name in enumerate(GENUINE)],
)
def test_an_unknown_root_is_not_told_as_an_alteration(name: str) -> None:
    assert verify(genuine(name), [fuzzed().root]).ok
    for roots in ([], [STRANGER]):
        verdict = verify(genuine(name), roots).verdict
        assert (verdict.indication, verdict.sub_indication) == ("INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"), verdict


FAULTS = st.lists(st.builds(Fault, st.sampled_from(get_args(SubIndication)[1:]), st.just("why")))
OF_PROOF = {"FORMAT_FAILURE", "HASH_FAILURE", "SIG_CRYPTO_FAILURE", "REVOKED", "EXPIRED", "NOT_YET_VALID"}


@given(proven=st.booleans(), faults=FAULTS)
def test_only_what_was_proven_passes_and_only_a_proof_fails(proven: bool, faults: list[Fault]) -> None:
    verdict = decide(proven=proven, faults=faults)
    assert (verdict.indication == "TOTAL-PASSED") == (proven and not faults)
    assert (verdict.indication == "TOTAL-FAILED") == any(fault.kind in OF_PROOF for fault in faults)
    assert (verdict.word == "unknown") == (verdict.indication == "INDETERMINATE")


def test_what_was_not_looked_at_cannot_be_told() -> None:
    for empty in (Verification(), EvidenceCheck(), EvidenceCheck(matches=["one"])):
        assert not empty.ok and empty.verdict.indication == "INDETERMINATE"


@pytest.mark.parametrize("locale", words.LOCALES)
def test_every_language_has_the_three_words(locale: str) -> None:
    told = words.of("verdict", locale)
    assert set(get_args(Word)) | {"locale"} == told.keys()
    assert len(set(told.values())) == len(told)
