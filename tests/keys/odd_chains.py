"""Keys and certificates in every form that certificate authorities issue, each with the fate it must have."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.pdf.pki.revocation import LongTermData
from tests import independent
from tests.pdf import forge

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | Ed25519PrivateKey
Fate = Literal["works", "incomplete", "refused"]
"""A seal verifies (works), is made but tells that nobody trusts it (incomplete), or the key is refused (refused)."""


@dataclass(frozen=True)
class OddChain:
    """A key (PEM), the certificates (PEM) of one file, and their fate. ``reason``: words of the refusal."""

    key: bytes
    certificates: bytes
    fate: Fate
    reason: str = ""

    def write(self, folder: Path) -> tuple[Path, Path]:
        key, certificates = folder / "seal.key", folder / "certificates.pem"
        key.write_bytes(self.key)
        certificates.write_bytes(self.certificates)
        return key, certificates


KEYS: dict[tuple[str, str], Key] = {}
CURVES: dict[str, ec.EllipticCurve] = {
    "p-256": ec.SECP256R1(),
    "p-384": ec.SECP384R1(),
    "p-521": ec.SECP521R1(),
    "brainpool-256": ec.BrainpoolP256R1(),
    "brainpool-384": ec.BrainpoolP384R1(),
    "k-256": ec.SECP256K1(),
}


def key(name: str, kind: str = "p-256") -> Key:
    """Return a key, the same one for the same name and kind."""
    if (name, kind) not in KEYS:
        if kind.startswith("rsa-"):
            KEYS[name, kind] = rsa.generate_private_key(65537, int(kind.removeprefix("rsa-")))
        else:
            is_edwards = kind == "ed25519"
            KEYS[name, kind] = Ed25519PrivateKey.generate() if is_edwards else ec.generate_private_key(CURVES[kind])
    return KEYS[name, kind]


class Lists:
    """A source of statuses for every chain of these keys: an empty revocation list of each issuer."""

    def statuses(self, chain: Sequence[bytes]) -> LongTermData:
        issuers = map(x509.load_der_x509_certificate, chain[1:])
        return LongTermData(crls=tuple(self._list(issuer) for issuer in issuers))

    def _list(self, issuer: x509.Certificate) -> bytes:
        own = next(each for each in KEYS.values() if each.public_key() == issuer.public_key())
        return forge.der_of(forge.revocation_list(issuer, own))


def name(common: str, *, kind: _ASN1Type = _ASN1Type.UTF8String) -> x509.Name:
    return x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Acme Trust", _type=kind),
        x509.NameAttribute(NameOID.COMMON_NAME, common, _type=kind),
    ])  # fmt: skip


def issued(
    subject: x509.Name,
    public: Any,
    issuer: x509.Name,
    issuer_key: Key,
    *,
    ca: bool = False,
    days: tuple[float, float] = (-1, 700),
    path_length: int | None = None,
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
    without_basics: bool = False,
    **how: Any,
) -> x509.Certificate:
    """Issue a certificate. ``days``: from now, of its validity; ``how``: as :func:`tests.pdf.forge.issued` takes it."""
    start, end = (timedelta(days=each) for each in days)
    uses = ("key_cert_sign", "crl_sign") if ca else ("digital_signature", "content_commitment")
    basics = [] if without_basics else [(x509.BasicConstraints(ca, path_length), True), forge.usage(*uses)]
    stated = [*basics, *extensions]
    return forge.issued(subject, public, issuer, issuer_key, start=start, end=end, extensions=stated, **how)


def pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(each.public_bytes(Encoding.PEM) for each in certificates)


def pkcs8(of: Key) -> bytes:
    return of.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def root(common: str = "Root", of: Key | None = None, **arguments: Any) -> x509.Certificate:
    of = of or key("root")
    return issued(name(common), of.public_key(), name(common), of, ca=True, **arguments)


def middle(*, of: str = "middle", **arguments: Any) -> x509.Certificate:
    facts: dict[str, Any] = {"ca": True, **arguments}
    return issued(name("Middle"), key(of).public_key(), name("Root"), key("root"), **facts)


def leaf(**arguments: Any) -> x509.Certificate:
    """Return a certificate for the seal, issued by the middle one."""
    return issued(name("Seal"), key("seal").public_key(), name("Middle"), key("middle"), **arguments)


def below_root(**arguments: Any) -> x509.Certificate:
    return issued(name("Seal"), key("seal").public_key(), name("Root"), key("root"), **arguments)


def chain(fate: Fate, *certificates: x509.Certificate, of: Key | None = None, reason: str = "") -> OddChain:
    return OddChain(pkcs8(of or key("seal")), pem(*certificates), fate, reason)


def works(*certificates: x509.Certificate, of: Key | None = None) -> OddChain:
    return chain("works", *certificates, of=of)


def refused(reason: str, *certificates: x509.Certificate, of: Key | None = None) -> OddChain:
    return chain("refused", *certificates, of=of, reason=reason)


def of_curve(kind: str) -> OddChain:
    """Return a chain in which root and seal have keys of this kind."""
    top, own = key("root", kind), key("seal", kind)
    certificate = issued(name("Seal"), own.public_key(), name("Root"), top)
    return chain("works", certificate, root(of=top), of=own)


def issuer_of_curve(kind: str, fate: Fate, reason: str = "") -> OddChain:
    top = key("root", kind)
    certificate = issued(name("Seal"), key("seal").public_key(), name("Root"), top, hash_=hashes.SHA384())
    return chain(fate, certificate, root(of=top), reason=reason)


def written(issuer: x509.Name) -> OddChain:
    """Return a chain whose leaf spells its issuer's name differently than the issuer does."""
    return chain("works", issued(name("Seal"), key("seal").public_key(), issuer, key("root")), root())


def cross(*order: int) -> OddChain:
    """Return a chain with two certificates of one root: signed by itself and, with a weak hash, by an older root."""
    older, new = root("Older Root", key("older")), root()
    by = (name("Older Root"), key("older"))
    crossed = issued(name("Root"), key("root").public_key(), *by, ca=True, hash_=hashes.SHA224())
    listed = (below_root(), new, crossed, older)
    return chain("works", *(listed[position] for position in order))


def pss(digest: str = "", salt: int = 32, *, reason: str = "") -> OddChain:
    """Return a self-signed key for RSASSA-PSS alone. ``digest``: restricts it to this hash, with this salt length."""
    restricted = (f"md:{digest}", f"mgf1_md:{digest}", f"saltlen:{salt}") if digest else ()
    options = (f"-pkeyopt rsa_pss_keygen_{each}" for each in restricted)
    made = _openssl("genpkey -algorithm rsa-pss -pkeyopt rsa_keygen_bits:2048", *options)
    certificate = _self_signed(made, "/CN=PSS Seal", f"-{digest or 'sha256'}")
    return OddChain(made, certificate, "refused" if reason else "works", reason)


def plain_key_of_pss_certificate() -> OddChain:
    """Return a key in a file for RSA of any kind, whose certificate is for RSASSA-PSS alone."""
    odd = pss()
    loaded = load_pem_private_key(odd.key, None)
    assert isinstance(loaded, rsa.RSAPrivateKey)
    return OddChain(pkcs8(loaded), odd.certificates, "works")


def explicit_curve(*, is_issuer: bool = False) -> OddChain:
    made = _openssl("genpkey", "-algorithm", "EC", "-pkeyopt ec_paramgen_curve:P-256", "-pkeyopt ec_param_enc:explicit")
    certificate = _self_signed(made, "/C=DE/O=Acme Trust/CN=Root" if is_issuer else "/CN=Explicit")
    reason = "by explicit parameters"
    if not is_issuer:
        return OddChain(made, certificate, "refused", reason)
    issuer = load_pem_private_key(made, None)
    assert isinstance(issuer, ec.EllipticCurvePrivateKey)
    own = issued(name("Seal"), key("seal").public_key(), name("Root"), issuer)
    return OddChain(pkcs8(key("seal")), pem(own) + certificate, "refused", reason)


def latin(*, unneeded: bool = False) -> OddChain:
    """Return a chain with a certificate whose name is a T61String in Latin-1."""
    made = _openssl("genpkey", "-algorithm", "EC", "-pkeyopt ec_paramgen_curve:P-256")
    # "default" lets OpenSSL choose the smallest type that holds the text, with T61String before UTF8String.
    config = b"string_mask=default\nprompt=no\ndistinguished_name=n\n[n]\nO=A\xe7\xe3o S\xe3o Paulo\nCN=Selo\n"
    certificate = _self_signed(made, "", config=config)
    if unneeded:
        return OddChain(pkcs8(key("seal")), certificate + pem(below_root(), root()), "works")
    return OddChain(made, certificate, "refused", "has a name that cannot be read")


def _self_signed(made: bytes, subject: str, *more: str, config: bytes = b"") -> bytes:
    with TemporaryDirectory() as made_here:
        folder = Path(made_here)
        (folder / "key.pem").write_bytes(made)
        (folder / "req.cnf").write_bytes(b"[req]\n" + (config or b"distinguished_name=n\n[n]\n"))
        named = ["-subj", subject] if subject else []
        files = f"-key {folder}/key.pem -config {folder}/req.cnf"
        return _openssl("req -x509 -new -days 700", files, *more, named=named)


def _openssl(*words: str, named: Sequence[str] = ()) -> bytes:
    command = [independent.need("openssl", "openssl"), *" ".join(words).split(), *named]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _constrained(*trees: x509.GeneralName, excluded: bool = False) -> x509.Certificate:
    constraints = x509.NameConstraints(None if excluded else trees, trees if excluded else None)
    return middle(extensions=[(constraints, True)])


_PRINTABLE = _ASN1Type.PrintableString
_ACME = x509.DirectoryName(x509.Name(list(name("x", kind=_PRINTABLE))[:2]))
_UNKNOWN = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), b"\x05\x00")
_SERVERS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
_POLICIES = x509.CertificatePolicies([x509.PolicyInformation(x509.ObjectIdentifier("1.2.3.4"), None)])
_ADDRESS = x509.SubjectAlternativeName([x509.RFC822Name("seal@acme.example")])


def of_someone() -> x509.Certificate:
    """Return a certificate of another key, of a kind that seals do not have."""
    return issued(name("Someone"), Ed25519PrivateKey.generate().public_key(), name("Root"), key("root"))


CHAINS: dict[str, Callable[[], OddChain]] = {
    "one above the other": lambda: works(leaf(), middle(), root()),
    "root first": lambda: works(root(), leaf(), middle()),
    "issuer first": lambda: works(middle(), root(), leaf()),
    "everything twice": lambda: works(leaf(), leaf(), middle(), middle(), root(), root()),
    "signed by itself, for certificates alone": lambda: refused("may not be used for signatures", root(of=key("seal"))),
    "signed by itself": lambda: works(issued(name("Seal"), key("seal").public_key(), name("Seal"), key("seal"))),
    "issuer missing": lambda: chain("incomplete", leaf(), root()),
    "root missing": lambda: chain("incomplete", leaf(), middle()),
    "all issuers missing": lambda: chain("incomplete", leaf()),
    "an issuer of the right name and another key": lambda: chain("incomplete", leaf(), middle(of="wrong"), root()),
    "the issuer's older key too": lambda: works(leaf(), middle(of="wrong"), middle(), root()),
    "an expired certificate of the issuer too": lambda: works(leaf(), middle(days=(-20, -10)), middle(), root()),
    "an expired certificate of the key too": lambda: works(leaf(days=(-20, -10)), leaf(), middle(), root()),
    "a certificate of the key without its issuer too": lambda: works(
        issued(name("Seal"), key("seal").public_key(), name("Nobody"), key("wrong")), leaf(), middle(), root()
    ),
    "somebody else's certificate too": lambda: works(leaf(), of_someone(), middle(), root()),
    "an unreadable name that is not needed": lambda: latin(unneeded=True),
    "cross-signed, root first": lambda: cross(0, 1, 2, 3),
    "cross-signed, cross first": lambda: cross(0, 2, 1, 3),
    "cross-signed, older root first": lambda: cross(3, 2, 0, 1),
    "cross-signed alone": lambda: replace(cross(0, 2, 3), fate="refused", reason="weak signature: the hash SHA-224"),
    "PrintableString for UTF8String": lambda: written(name("Root", kind=_PRINTABLE)),
    "other case": lambda: written(name("ROOT")),
    "other white space": lambda: written(name("  Root ")),
    "BMPString": lambda: written(name("Root", kind=_ASN1Type.BMPString)),
    "P-384": lambda: of_curve("p-384"),
    "P-521": lambda: of_curve("p-521"),
    "brainpoolP256r1": lambda: of_curve("brainpool-256"),
    "issuer P-384": lambda: issuer_of_curve("p-384", "works"),
    "issuer brainpoolP384r1": lambda: issuer_of_curve("brainpool-384", "works"),
    "issuer secp256k1": lambda: issuer_of_curve("k-256", "refused", "has a weak key: secp256k1 of 256 bits"),
    "issuer Ed25519": lambda: issuer_of_curve("ed25519", "works"),
    "issuer RSA": lambda: issuer_of_curve("rsa-2048", "works"),
    "signed with PSS by an issuer of RSA": lambda: works(
        issued(name("Seal"), key("seal").public_key(), name("Root"), key("root", "rsa-2048"), is_pss=True),
        root(of=key("root", "rsa-2048")),
    ),
    "PSS": pss,
    "PSS, restricted to SHA-256": lambda: pss("sha256"),
    "PSS, restricted to SHA-384": lambda: pss("sha384", 48, reason="does not allow RSASSA-PSS with SHA-256"),
    "PSS, restricted to a longer salt": lambda: pss("sha256", 64, reason="does not allow RSASSA-PSS with SHA-256"),
    "PSS in the certificate alone": plain_key_of_pss_certificate,
    "curve by explicit parameters": explicit_curve,
    "issuer's curve by explicit parameters": lambda: explicit_curve(is_issuer=True),
    "T61String": latin,
    "weak RSA": lambda: refused(
        "RSA of 1024 bits is not accepted",
        issued(name("Seal"), key("weak", "rsa-1024").public_key(), name("Root"), key("root")),
        root(),
        of=key("weak", "rsa-1024"),
    ),
    "expired": lambda: refused("expired on", leaf(days=(-20, -10)), middle(), root()),
    "not yet valid": lambda: refused("is valid only from", leaf(days=(10, 20)), middle(), root()),
    "issuer expired": lambda: refused("expired on", leaf(), middle(days=(-20, -10)), root()),
    "issuer is none": lambda: refused("may not issue certificates", leaf(), middle(ca=False), root()),
    "issuer without basic constraints": lambda: refused(
        "may not issue certificates", leaf(), middle(without_basics=True), root()
    ),
    "issuer for the web alone": lambda: refused(
        "certificates for documents", leaf(), middle(extensions=[(_SERVERS, False)]), root()
    ),
    "one issuer too many": lambda: refused("at most 0 issuers", leaf(), middle(), root(path_length=0)),
    "as many issuers as allowed": lambda: works(leaf(), middle(path_length=0), root(path_length=1)),
    "an unknown critical extension": lambda: refused(
        "critical extension 1.2.3.4.5", leaf(extensions=[(_UNKNOWN, True)]), middle(), root()
    ),
    "an unknown extension": lambda: works(leaf(extensions=[(_UNKNOWN, False)]), middle(), root()),
    "critical policies": lambda: works(
        leaf(extensions=[(_POLICIES, True)]), middle(extensions=[(_POLICIES, True)]), root()
    ),
    "names as the issuer allows": lambda: works(leaf(), _constrained(_ACME), root()),
    "names that the issuer does not allow": lambda: refused(
        "does not allow the names",
        issued(x509.Name(list(name("Seal"))[2:]), key("seal").public_key(), name("Middle"), key("middle")),
        _constrained(_ACME),
        root(),
    ),
    "names that the issuer excludes": lambda: refused(
        "does not allow the names", leaf(), _constrained(_ACME, excluded=True), root()
    ),
    "names of a kind that is not compared": lambda: refused(
        "does not allow the names",
        leaf(extensions=[(_ADDRESS, False)]),
        _constrained(x509.RFC822Name("acme.example")),
        root(),
    ),
    "for servers": lambda: refused("not one for documents", leaf(extensions=[(_SERVERS, False)]), middle(), root()),
}
