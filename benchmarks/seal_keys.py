"""Keys of three kinds under one root, the built-in timestamp authority, and pyHanko as its guide shows it."""

import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers

from paraph.kernel import clock
from paraph.keys import development
from paraph.keys.signing_key import LocalKey, PrivateKey
from paraph.pdf.pki.purpose import document_purpose
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.pki.statuses import Chain, LongTerm
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamping

KINDS = ["RSA-2048", "RSA-3072", "P-256"]


PURPOSE = document_purpose(0, "benchmark")


@cache
def sealing_key(kind: str) -> LocalKey:
    """A key with a certificate of the root."""
    private, root = private_key(kind), development.issue_root(_root_key())
    return LocalKey(private, [development.issue_sealing(_root_key(), private.public_key()), root])


@cache
def authority_for() -> Timestamping:
    """The authority that a first start makes for itself, with a P-256 key."""
    private, root = private_key("P-256"), development.issue_root(_root_key())
    key = LocalKey(private, [development.issue_timestamp(_root_key(), private.public_key()), root])
    return Timestamping([BuiltInAuthority(key)], [root.public_bytes(Encoding.DER)])


@cache
def long_term_for() -> LongTerm:
    """The root's revocation list, which serves the key and the authority."""
    root = development.issue_root(_root_key())
    now = clock.now()
    builder = x509.CertificateRevocationListBuilder().issuer_name(root.subject).last_update(now)
    crl = builder.next_update(now + timedelta(days=1)).sign(_root_key(), SHA256())
    return LongTerm([_Known(LongTermData(crls=(crl.public_bytes(Encoding.DER),)))])


class _Known:
    def __init__(self, data: LongTermData) -> None:
        self._data = data

    def statuses(self, chain: Chain) -> LongTermData:
        del chain
        return self._data


@cache
def pyhanko_signer(kind: str) -> Callable[[BytesIO], Any]:
    """``signers.sign_pdf`` with a ``SimpleSigner`` that was loaded once."""
    private = private_key(kind)
    certificate = development.issue_sealing(_root_key(), private.public_key())
    with tempfile.TemporaryDirectory() as folder:
        key_file, certificate_file = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        key_file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
        signer = signers.SimpleSigner.load(  # type: ignore[no-untyped-call]  # so it is in pyHanko
            str(key_file), str(certificate_file)
        )
    terms = signers.PdfSignatureMetadata(field_name="Seal", subfilter=fields.SigSeedSubFilter.PADES)
    return lambda file: signers.sign_pdf(IncrementalPdfFileWriter(file, strict=False), terms, signer=signer)


@cache
def _root_key() -> PrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def private_key(kind: str) -> PrivateKey:
    if kind == "P-256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=int(kind.removeprefix("RSA-")))
