"""Certificates with qualified certificate statements (ETSI EN 319 412-5)."""

from cryptography import x509

from paraph.keys.certificates import PublicKey
from paraph.pdf.pki import der
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
    """A certificate of a seal with these statements, or with ``value`` in their place. ``revocations``: where its
    issuer's list is."""
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
