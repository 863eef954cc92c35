"""Lists and answers about only part of what was asked prove nothing good, but every revocation in them counts.

Each extension of a list or of its entries is tried critical and not, for the signer's certificate and for its issuer's
(RFC 5280 §5.2, §5.3 and §6.3.3).
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from typing import Any

import pytest
from cryptography import x509
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
from tests.pdf.revisions import revised, store
from tests.pdf.sealed_files import OWN, sealed_now

DAY = timedelta(days=1)
Extension = tuple[x509.ExtensionType, bool]
"""An extension, and whether it is critical."""
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
    """Return a certificate. ``usage``: the key usage that it states, ``""`` for none."""
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
    return sealed_now(key=own)


def found_with(crls: Sequence[bytes] = (), ocsps: Sequence[bytes] = ()) -> Verification:
    """Verify the seal with these statuses and those of the timestamp authority."""
    lists = [revocation_list(OWN, clock.now()), *crls]
    return verify(revised(stamped(), store(crls=lists, ocsps=ocsps)), [OWN.root, ROOT.public_bytes(Encoding.DER)])


def entry(serial: int, *extensions: Extension, ago: timedelta = DAY) -> x509.RevokedCertificate:
    return forge.revoked(serial, clock.now() - ago, *extensions)


def made(about: x509.Certificate, entries: Sequence[x509.RevokedCertificate] = (), *extensions: Extension) -> bytes:
    """Return a list of the issuer of ``about``, with three entries about other certificates at its end."""
    listed = (*entries, *(entry(serial) for serial in (1, 2, 3)))
    issuer, signer = next((each, common) for each, common in ISSUERS if each.subject == about.issuer)
    return forge.der_of(forge.revocation_list(issuer, key(signer), *listed, ago=DAY, extensions=extensions))


def assert_proves(about: x509.Certificate, list_: bytes, *, good: bool) -> None:
    found = found_with([list_, *(made(other) for other in BOTH if other != about)])
    assert found.trusted and found.level == ("B-LT" if good else "B-T")


def assert_revokes(about: x509.Certificate, list_: bytes) -> None:
    found = found_with([list_, *map(made, BOTH)])  # other lists without the revocation change nothing
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
"""The scope that a list states, and for which certificates it may prove something."""
IN_LISTS: dict[str, tuple[x509.ExtensionType, bool]] = {
    "number": (x509.CRLNumber(5), True),
    "key": (x509.AuthorityKeyIdentifier(b"key", None, None), True),
    "names": (x509.IssuerAlternativeName([at("issuer")]), True),
    "access": (
        x509.AuthorityInformationAccess(
            [x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, at("issuer"))]
        ),
        True,
    ),
    "unknown": (UNKNOWN, False),
    "what changed since": (x509.FreshestCRL([x509.DistributionPoint([at("delta")], None, None, None)]), False),
}
IN_ENTRIES: dict[str, tuple[x509.ExtensionType, bool]] = {
    "reason": (x509.CRLReason(x509.ReasonFlags.superseded), True),
    "since": (x509.InvalidityDate(clock.now() - 2 * DAY), True),
    "issuer": (x509.CertificateIssuer([x509.DirectoryName(name("Other"))]), False),
    "unknown": (UNKNOWN, False),
}
"""Extensions of entries, like those of lists above, and whether they are understood."""
KINDS = list(product((True, False), BOTH))
kinds = pytest.mark.parametrize(
    "critical, about", KINDS, ids=[f"{'critical' if critical else 'not'}-{about.subject.rfc4514_string()}"
                                   for critical, about in KINDS]
)  # fmt: skip


@kinds
@pytest.mark.parametrize("of", OF_LISTS)
def test_a_list_proves_only_what_it_is_about(of: str, about: x509.Certificate, *, critical: bool) -> None:
    stated, fits = OF_LISTS[of]
    says = (stated(about) if callable(stated) else stated, critical)
    assert_proves(about, made(about, [], says), good=about in fits)
    assert_revokes(about, made(about, [entry(about.serial_number)], says))


@kinds
@pytest.mark.parametrize("of", IN_LISTS)
def test_what_is_critical_in_a_list_must_be_understood(of: str, about: x509.Certificate, *, critical: bool) -> None:
    value, understood = IN_LISTS[of]
    says = (value, critical)
    assert_proves(about, made(about, [], says), good=understood or not critical)
    assert_revokes(about, made(about, [entry(about.serial_number)], says))


@kinds
@pytest.mark.parametrize("of", IN_ENTRIES)
def test_what_is_critical_in_an_entry_must_be_understood(of: str, about: x509.Certificate, *, critical: bool) -> None:
    value, understood = IN_ENTRIES[of]
    says = (value, critical)
    assert_proves(about, made(about, [entry(9, says)]), good=understood or not critical)
    assert_revokes(about, made(about, [entry(about.serial_number, says)]))


def test_extensions_that_cannot_be_read_make_a_list_prove_nothing() -> None:
    broken = (x509.UnrecognizedExtension(x509.IssuingDistributionPoint.oid, b"\x05\x00"), False)
    in_entry = (x509.UnrecognizedExtension(x509.CRLReason.oid, b"\x05\x00"), False)
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
    back = entry(LEAF.serial_number, (x509.CRLReason(x509.ReasonFlags.remove_from_crl), False))
    assert_proves(LEAF, made(LEAF, [back], (x509.DeltaCRLIndicator(1), True)), good=False)
    assert_revokes(LEAF, made(LEAF, [back]))
    full = made(LEAF, [entry(LEAF.serial_number)])
    found = found_with([full, made(LEAF, [back], (x509.DeltaCRLIndicator(1), True)), made(MIDDLE)])
    assert not found.trusted


def test_an_entry_about_a_certificate_of_another_issuer_is_about_none_of_ours() -> None:
    """The name of an issuer holds for the entries after it, too."""
    indirect = (scope(indirect_crl=True), True)
    other, own = ((x509.CertificateIssuer([x509.DirectoryName(each)]), True) for each in (name("Other"), LEAF.issuer))
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


GOOD, BAD = None, clock.now() - DAY
"""The time at which an answer says that the certificate was revoked."""


def answer(when: datetime | None, *extensions: Extension, **by: Any) -> ocsp.OCSPResponse:
    return forge.answer(
        LEAF, MIDDLE, key("Responder" if by else "Middle"), revoked_at=when, extensions=extensions, **by
    )


def altered(when: datetime | None, alter: Callable[[Any], object]) -> bytes:
    """Return an answer whose list of certificates is altered."""
    return forge.anew(answer(when), key("Middle"), lambda data: alter(data["responses"]))


def with_extension(critical: bool) -> Callable[[Any], None]:
    def alter(responses: Any) -> None:
        stated = {"extn_id": UNKNOWN.oid.dotted_string, "critical": critical, "extn_value": b"\x05\x00"}
        responses[0]["single_extensions"] = [stated]

    return alter


ANSWERS: dict[str, tuple[Callable[[datetime | None], bytes], bool]] = {
    "nonce": (lambda when: forge.der_of(answer(when, (x509.OCSPNonce(b"n" * 16), True))), True),
    "unknown": (lambda when: forge.der_of(answer(when, (UNKNOWN, False))), True),
    "unknown and critical": (lambda when: forge.der_of(answer(when, (UNKNOWN, True))), False),
    "unknown of one": (lambda when: altered(when, with_extension(critical=False)), True),
    "critical of one": (lambda when: altered(when, with_extension(critical=True)), False),
    "several": (lambda when: altered(when, lambda responses: responses.append(responses[0].copy())), False),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_critical_in_an_answer_must_be_understood(kind: str) -> None:
    of_status, good = ANSWERS[kind]
    found = found_with([made(MIDDLE)], [of_status(GOOD)])
    assert found.trusted and found.level == ("B-LT" if good else "B-T")
    found = found_with(list(map(made, BOTH)), [of_status(BAD)])
    assert not found.trusted and any("Leaf was revoked on" in finding for finding in found.findings)


@pytest.mark.parametrize("issuer", ["Middle", "Stranger"])
def test_a_responder_answers_for_whoever_certified_it(issuer: str) -> None:
    """Anybody can certify a key for answers, so only one that the issuer certified counts."""
    purpose = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.OCSP_SIGNING]), False)
    own = forge.certificate("Responder", key("Responder"), issuer, key(issuer), extensions=[purpose])
    good, bad = (forge.der_of(answer(when, by=[own])) for when in (GOOD, BAD))
    found = found_with([made(MIDDLE)], [good])
    assert found.trusted and found.level == ("B-LT" if issuer == "Middle" else "B-T")
    assert found_with(list(map(made, BOTH)), [bad]).trusted == (issuer != "Middle")
