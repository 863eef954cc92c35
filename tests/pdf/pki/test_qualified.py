"""What certificates state of themselves under the eIDAS Regulation (ETSI EN 319 412-5), and which statements make a
qualified seal."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.keys.certificates import PublicKey
from paraph.pdf.pki import der
from paraph.pdf.pki.certificate import makes_qualified_seals, qualified_statements
from tests.keys.certified_keys import Root, make_key, make_root
from tests.keys.odd_chains import issued, name


def stated(identifier: str, *of: bytes) -> bytes:
    return der.sequence(der.oid(identifier), *of)


def _kind(number: int) -> bytes:
    return stated("0.4.0.1862.1.6", der.sequence(der.oid(f"0.4.0.1862.1.6.{number}")))


COMPLIANCE, DEVICE = stated("0.4.0.1862.1.1"), stated("0.4.0.1862.1.4")
ESIGN, ESEAL, WEB = _kind(1), _kind(2), _kind(3)
IN_BRITAIN = stated("0.4.0.1862.1.7", der.sequence(der.tlv(0x13, b"GB")))


def qualified(
    *parts: bytes,
    value: bytes | None = None,
    root: Root | None = None,
    public: PublicKey | None = None,
    revocations: str = "",
) -> x509.Certificate:
    """Return a certificate for a seal with these statements, or with ``value`` in their place. ``revocations``: the
    address of its issuer's list."""
    root = root or make_root()
    encoded = der.sequence(*parts) if value is None else value
    extensions: list[x509.ExtensionType] = [
        x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.5.5.7.1.3"), encoded)
    ]
    if revocations:
        point = x509.DistributionPoint([x509.UniformResourceIdentifier(revocations)], None, None, None)
        extensions.append(x509.CRLDistributionPoints([point]))
    public, own = public or make_key("p-256").public_key(), root.certificate.subject
    plain = [(each, False) for each in extensions]
    return issued(name("Seal of Acme"), public, own, root.key, extensions=plain)


def certificate(*parts: bytes) -> bytes:
    return qualified(*parts).public_bytes(Encoding.DER)


def test_all_three_together_make_a_qualified_seal() -> None:
    whole = certificate(COMPLIANCE, ESEAL, DEVICE)
    assert qualified_statements(whole) == ("QcCompliance", "QcSSCD", "QcType eseal") and makes_qualified_seals(whole)
    others = certificate(stated("0.4.0.1862.1.5"), COMPLIANCE, DEVICE, stated("0.4.0.1862.1.3", der.integer(10)), ESEAL)
    assert makes_qualified_seals(others)  # the issuer's terms and its retention of records do not matter


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((), ()),
        ((COMPLIANCE, ESEAL), ("QcCompliance", "QcType eseal")),
        ((COMPLIANCE, DEVICE), ("QcCompliance", "QcSSCD")),
        ((ESEAL, DEVICE), ("QcSSCD", "QcType eseal")),
        ((COMPLIANCE, ESIGN, DEVICE), ("QcCompliance", "QcSSCD", "QcType esign")),
        ((COMPLIANCE, WEB), ("QcCompliance", "QcType web")),
        ((COMPLIANCE, ESEAL, ESIGN, DEVICE), ("QcCompliance", "QcSSCD", "QcType eseal", "QcType esign")),
        ((COMPLIANCE, ESEAL, DEVICE, IN_BRITAIN), ("QcCompliance", "QcSSCD", "QcCClegislation", "QcType eseal")),
        (
            (COMPLIANCE, stated("0.4.0.1862.1.6", der.sequence(der.oid("0.4.0.1862.1.6.9"))), DEVICE),
            ("QcCompliance", "QcSSCD", "QcType 0.4.0.1862.1.6.9"),
        ),
    ],
)
def test_less_is_told_as_it_is_and_makes_none(parts: tuple[bytes, ...], said: tuple[str, ...]) -> None:
    made = certificate(*parts)
    assert sorted(qualified_statements(made)) == sorted(said) and not makes_qualified_seals(made)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x30\x80\x00\x00",
        der.sequence(COMPLIANCE, DEVICE, ESEAL) + b"\0",
        der.sequence(COMPLIANCE, DEVICE, stated("0.4.0.1862.1.6")),
        der.sequence(COMPLIANCE, DEVICE, ESEAL, der.integer(1)),
        der.sequence(COMPLIANCE, DEVICE, ESEAL, der.sequence()),
        der.octet_string(der.sequence(COMPLIANCE, DEVICE, ESEAL)),
    ],
)
def test_statements_that_cannot_be_read_are_none(value: bytes) -> None:
    made = qualified(value=value).public_bytes(Encoding.DER)
    assert x509.load_der_x509_certificate(made) and qualified_statements(made) == () and not makes_qualified_seals(made)
    assert qualified_statements(b"") == qualified_statements(b"\x30\x00") == ()
