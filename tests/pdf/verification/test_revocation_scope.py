"""Lists and answers that are about part of what was asked: they prove nothing good, and every revocation counts.

One list stands for each extension, critical and not, of the list or an entry of it, about the signer's certificate and
about its issuer's (RFC 5280 §5.2, §5.3 and §6.3.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import product
from typing import Any

import pytest
from asn1crypto import core as asn1_core
from asn1crypto import ocsp as asn1_ocsp
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock
from paraph.keys.development import revocation_list
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation import read_list
from paraph.pdf.report import Verification
from paraph.pdf.verification.verify import verify
from tests.pdf import forge
from tests.pdf.forge import USES
from tests.pdf.forge import curve_key as key
from tests.pdf.forge import named as name
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import revised
from tests.pdf.sealed_files import authority, sealed, timestamping
from tests.pdf.verification.test_verify_long_term import store

OWN = authority("p-256")
DAY = timedelta(days=1)
REASONS = frozenset({x509.ReasonFlags.key_compromise})


def at(address: str) -> x509.GeneralName:
    return x509.UniformResourceIdentifier(f"http://lists.example/{address}")


POINTS = x509.CRLDistributionPoints(
    [
        x509.DistributionPoint([at("all"), at("all-too")], None, None, None),
        x509.DistributionPoint([at("some-reasons")], None, REASONS, None),
        x509.DistributionPoint([at("of-others")], None, None, [x509.DirectoryName(name("Other"))]),
    ]
)


@cache
def certificate(common: str, issuer: str, usage: str = "") -> x509.Certificate:
    """``usage``: what the key is said to be for, ``""`` where nothing is said."""
    extensions = [(POINTS, False), *([forge.usage(*usage.split())] if usage else [])]
    return forge.certificate(
        common, key(common), issuer, key(issuer), ca=common != "Leaf", start=-DAY, end=900 * DAY, extensions=extensions
    )


LEAF, MIDDLE, ROOT = certificate("Leaf", "Middle"), certificate("Middle", "Root"), certificate("Root", "Root")
BOTH, NEITHER = (LEAF, MIDDLE), ()
ISSUERS = ((MIDDLE, "Middle"), (ROOT, "Root"))


@cache
def stamped() -> bytes:
    own = LocalKey(key("Leaf"), [LEAF, MIDDLE, ROOT])
    return sealed(paper(text("A contract", 100, 700)), key=own, at=clock.now(), timestamping=timestamping()).content


def found_with(crls: Sequence[bytes] = (), ocsps: Sequence[bytes] = ()) -> Verification:
    """What is found of the seal with these statuses and those of the timestamp authority."""
    lists = [revocation_list(OWN, clock.now()), *crls]
    return verify(revised(stamped(), store(crls=lists, ocsps=ocsps)), [OWN.root, ROOT.public_bytes(Encoding.DER)])


@dataclass(frozen=True)
class Extension:
    value: x509.ExtensionType
    critical: bool


def entry(serial: int, *extensions: Extension, ago: timedelta = DAY) -> x509.RevokedCertificate:
    return forge.revoked(serial, clock.now() - ago, *((each.value, each.critical) for each in extensions))


def made(about: x509.Certificate, entries: Sequence[x509.RevokedCertificate] = (), *extensions: Extension) -> bytes:
    """A list of the issuer of ``about``, with three entries about others at its end."""
    listed = (*entries, *(entry(serial) for serial in (1, 2, 3)))
    stated = [(each.value, each.critical) for each in extensions]
    issuer, signer = next((each, common) for each, common in ISSUERS if each.subject == about.issuer)
    return forge.der_of(forge.revocation_list(issuer, key(signer), *listed, ago=DAY, extensions=stated))


def assert_proves(about: x509.Certificate, list_: bytes, *, good: bool) -> None:
    found = found_with([list_, *(made(other) for other in BOTH if other != about)])
    assert found.trusted and found.level == ("B-LT" if good else "B-T")


def assert_revokes(about: x509.Certificate, list_: bytes) -> None:
    found = found_with([list_, *map(made, BOTH)])  # a list that does not have it is no excuse
    common = about.subject.rfc4514_string().removeprefix("CN=")
    assert found.intact and not found.trusted and not found.ok
    assert any(f"{common} was revoked on" in finding for finding in found.findings)


def scope(**stated: Any) -> x509.IssuingDistributionPoint:
    unsaid: dict[str, Any] = {"full_name": None, "relative_name": None, "only_some_reasons": None}
    kinds = ("only_contains_user_certs", "only_contains_ca_certs", "only_contains_attribute_certs", "indirect_crl")
    return x509.IssuingDistributionPoint(**(unsaid | dict.fromkeys(kinds, False) | stated))


RELATIVE = x509.RelativeDistinguishedName([x509.NameAttribute(NameOID.COMMON_NAME, "1")])
UNKNOWN = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.32473.1"), b"\x05\x00")
ISSUERS_NAME: Callable[[x509.Certificate], x509.ExtensionType] = lambda about: scope(  # noqa: E731  beside the others
    full_name=[x509.DirectoryName(about.issuer)]
)
OF_LISTS: dict[str, tuple[Any, Sequence[x509.Certificate]]] = {
    "end entities": (scope(only_contains_user_certs=True), [LEAF]),
    "authorities": (scope(only_contains_ca_certs=True), [MIDDLE]),
    "attribute certificates": (scope(only_contains_attribute_certs=True), NEITHER),
    "some reasons": (scope(only_some_reasons=REASONS), NEITHER),
    "certificates of others too": (scope(indirect_crl=True), NEITHER),
    "its point": (scope(full_name=[at("all")]), BOTH),
    "one of its points": (scope(full_name=[at("elsewhere"), at("all-too")]), BOTH),
    "its issuer": (ISSUERS_NAME, BOTH),
    "another point": (scope(full_name=[at("elsewhere")]), NEITHER),
    "another name": (scope(full_name=[x509.DirectoryName(name("Other"))]), NEITHER),
    "a name below the issuer's": (scope(relative_name=RELATIVE), NEITHER),
    "its point of some reasons": (scope(full_name=[at("some-reasons")]), NEITHER),
    "its point of another issuer": (scope(full_name=[at("of-others")]), NEITHER),
    "end entities of its point": (scope(full_name=[at("all")], only_contains_user_certs=True), [LEAF]),
    "what changed": (x509.DeltaCRLIndicator(1), NEITHER),
}
"""What a list says that it is about, and of which certificates it may prove something."""
UNDERSTOOD: dict[str, x509.ExtensionType] = {
    "number": x509.CRLNumber(5),
    "key": x509.AuthorityKeyIdentifier(b"key", None, None),
    "names": x509.IssuerAlternativeName([at("issuer")]),
    "access": x509.AuthorityInformationAccess(
        [x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, at("issuer"))]
    ),
}
NOT_UNDERSTOOD: dict[str, x509.ExtensionType] = {
    "unknown": UNKNOWN,
    "what changed since": x509.FreshestCRL([x509.DistributionPoint([at("delta")], None, None, None)]),
}
IN_ENTRIES: dict[str, tuple[x509.ExtensionType, bool]] = {
    "reason": (x509.CRLReason(x509.ReasonFlags.superseded), True),
    "since": (x509.InvalidityDate(clock.now() - 2 * DAY), True),
    "issuer": (x509.CertificateIssuer([x509.DirectoryName(name("Other"))]), False),
    "unknown": (UNKNOWN, False),
}
"""What an entry may hold, and whether it is understood."""
KINDS = list(product((True, False), BOTH))
kinds = pytest.mark.parametrize(
    "critical, about", KINDS, ids=[f"{'critical' if critical else 'not'}-{about.subject.rfc4514_string()}"
                                   for critical, about in KINDS]
)  # fmt: skip


@kinds
@pytest.mark.parametrize("of", OF_LISTS)
def test_a_list_proves_only_what_it_is_about(of: str, about: x509.Certificate, *, critical: bool) -> None:
    stated, fits = OF_LISTS[of]
    says = Extension(stated(about) if callable(stated) else stated, critical)
    assert_proves(about, made(about, [], says), good=about in fits)
    assert_revokes(about, made(about, [entry(about.serial_number)], says))


@kinds
@pytest.mark.parametrize("of", [*UNDERSTOOD, *NOT_UNDERSTOOD])
def test_what_is_critical_in_a_list_must_be_understood(of: str, about: x509.Certificate, *, critical: bool) -> None:
    says = Extension({**UNDERSTOOD, **NOT_UNDERSTOOD}[of], critical)
    assert_proves(about, made(about, [], says), good=of in UNDERSTOOD or not critical)
    assert_revokes(about, made(about, [entry(about.serial_number)], says))


@kinds
@pytest.mark.parametrize("of", IN_ENTRIES)
def test_what_is_critical_in_an_entry_must_be_understood(of: str, about: x509.Certificate, *, critical: bool) -> None:
    value, understood = IN_ENTRIES[of]
    says = Extension(value, critical)
    assert_proves(about, made(about, [entry(9, says)]), good=understood or not critical)
    assert_revokes(about, made(about, [entry(about.serial_number, says)]))


def test_extensions_that_cannot_be_read_make_a_list_prove_nothing() -> None:
    broken = Extension(x509.UnrecognizedExtension(x509.IssuingDistributionPoint.oid, b"\x05\x00"), critical=False)
    in_entry = Extension(x509.UnrecognizedExtension(x509.CRLReason.oid, b"\x05\x00"), critical=False)
    for entries, extensions in (([], [broken]), ([entry(9, in_entry)], [])):
        assert_proves(LEAF, made(LEAF, entries, *extensions), good=False)
        assert_revokes(LEAF, made(LEAF, [*entries, entry(LEAF.serial_number)], *extensions))
    assert_revokes(LEAF, made(LEAF, [entry(LEAF.serial_number, in_entry)]))


@pytest.mark.parametrize("usage", ["", *USES[:7], "key_cert_sign crl_sign", "key_cert_sign digital_signature"])
def test_a_list_proves_something_where_its_issuer_may_sign_lists(usage: str) -> None:
    issuer = load(certificate("Middle", "Root", usage).public_bytes(Encoding.DER))
    leaf = load(LEAF.public_bytes(Encoding.DER))
    empty = read_list(made(LEAF), issuer)
    assert empty is not None and empty.covers(leaf) == (not usage or "crl_sign" in usage)
    full = read_list(made(LEAF, [entry(LEAF.serial_number)]), issuer)
    assert full is not None and LEAF.serial_number in full.revoked


def test_only_a_list_of_changes_takes_a_revocation_back() -> None:
    back = entry(LEAF.serial_number, Extension(x509.CRLReason(x509.ReasonFlags.remove_from_crl), critical=False))
    assert_proves(LEAF, made(LEAF, [back], Extension(x509.DeltaCRLIndicator(1), critical=True)), good=False)
    assert_revokes(LEAF, made(LEAF, [back]))
    full = made(LEAF, [entry(LEAF.serial_number)])
    found = found_with([full, made(LEAF, [back], Extension(x509.DeltaCRLIndicator(1), critical=True)), made(MIDDLE)])
    assert not found.trusted


def test_an_entry_about_a_certificate_of_another_issuer_is_about_none_of_ours() -> None:
    """The name of an issuer holds for the entries after it, too."""
    indirect = Extension(scope(indirect_crl=True), critical=True)
    other, own = (
        Extension(x509.CertificateIssuer([x509.DirectoryName(each)]), critical=True)
        for each in (name("Other"), LEAF.issuer)
    )
    serial = LEAF.serial_number
    assert_proves(LEAF, made(LEAF, [entry(serial, other)], indirect), good=False)
    assert_proves(LEAF, made(LEAF, [entry(9, other), entry(serial)], indirect), good=False)
    assert_revokes(LEAF, made(LEAF, [entry(serial), entry(9, other)], indirect))
    assert_revokes(LEAF, made(LEAF, [entry(9, other), entry(serial, own)], indirect))
    assert_revokes(LEAF, made(LEAF, [entry(9, other), entry(8, own), entry(serial)], indirect))


def test_of_two_entries_the_earlier_revocation_counts() -> None:
    later, earlier = entry(LEAF.serial_number, ago=-DAY), entry(LEAF.serial_number)
    for entries in ((later, earlier), (earlier, later)):
        assert_revokes(LEAF, made(LEAF, entries))


def answer(
    *extensions: Extension,
    status: ocsp.OCSPCertStatus = ocsp.OCSPCertStatus.GOOD,
    by: x509.Certificate = MIDDLE,
    signer: str = "Middle",
) -> ocsp.OCSPResponse:
    now = clock.now()
    when = now - DAY if status is ocsp.OCSPCertStatus.REVOKED else None
    builder = (
        ocsp.OCSPResponseBuilder()
        .add_response(LEAF, MIDDLE, SHA256(), status, now, now + DAY, when, None)
        .responder_id(ocsp.OCSPResponderEncoding.HASH, by)
        .certificates([by])
    )
    for each in extensions:
        builder = builder.add_extension(each.value, critical=each.critical)
    return builder.sign(key(signer), SHA256())


def altered(given: ocsp.OCSPResponse, alter: Callable[[Any], None]) -> bytes:
    """The answer with its list of certificates changed, signed anew."""
    whole = asn1_ocsp.OCSPResponse.load(given.public_bytes(Encoding.DER))
    basic = whole["response_bytes"]["response"].parsed
    alter(basic["tbs_response_data"]["responses"])
    signature = key("Middle").sign(basic["tbs_response_data"].dump(force=True), ec.ECDSA(SHA256()))
    basic["signature"] = signature
    whole["response_bytes"]["response"] = asn1_core.ParsableOctetString(basic.dump(force=True))
    return bytes(whole.dump(force=True))


def with_extension(critical: bool) -> Callable[[Any], None]:
    def alter(responses: Any) -> None:
        stated = {"extn_id": UNKNOWN.oid.dotted_string, "critical": critical, "extn_value": b"\x05\x00"}
        responses[0]["single_extensions"] = [stated]

    return alter


def twice(responses: Any) -> None:
    responses.append(responses[0].copy())


ANSWERS: dict[str, tuple[Callable[[ocsp.OCSPCertStatus], bytes], bool]] = {
    "nonce": (lambda status: der(answer(Extension(x509.OCSPNonce(b"n" * 16), critical=True), status=status)), True),
    "unknown": (lambda status: der(answer(Extension(UNKNOWN, critical=False), status=status)), True),
    "unknown and critical": (lambda status: der(answer(Extension(UNKNOWN, critical=True), status=status)), False),
    "unknown of one": (lambda status: altered(answer(status=status), with_extension(critical=False)), True),
    "critical of one": (lambda status: altered(answer(status=status), with_extension(critical=True)), False),
    "several": (lambda status: altered(answer(status=status), twice), False),
}


def der(made: ocsp.OCSPResponse) -> bytes:
    return made.public_bytes(Encoding.DER)


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_critical_in_an_answer_must_be_understood(kind: str) -> None:
    with_status, good = ANSWERS[kind]
    found = found_with([made(MIDDLE)], [with_status(ocsp.OCSPCertStatus.GOOD)])
    assert found.trusted and found.level == ("B-LT" if good else "B-T")
    found = found_with(list(map(made, BOTH)), [with_status(ocsp.OCSPCertStatus.REVOKED)])
    assert not found.trusted and any("Leaf was revoked on" in finding for finding in found.findings)


@pytest.mark.parametrize("issuer", ["Middle", "Stranger"])
def test_a_responder_answers_for_whoever_certified_it(issuer: str) -> None:
    """Anybody can certify that some key is for answers."""
    purpose = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.OCSP_SIGNING]), False)
    own = forge.certificate("Responder", key("Responder"), issuer, key(issuer), extensions=[purpose])
    good, bad = ocsp.OCSPCertStatus.GOOD, ocsp.OCSPCertStatus.REVOKED
    found = found_with([made(MIDDLE)], [der(answer(status=good, by=own, signer="Responder"))])
    assert found.trusted and found.level == ("B-LT" if issuer == "Middle" else "B-T")
    found = found_with(list(map(made, BOTH)), [der(answer(status=bad, by=own, signer="Responder"))])
    assert found.trusted == (issuer != "Middle")
