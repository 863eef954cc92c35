"""Seals and timestamps of a trusted key that are wrong in one thing, and odd ones that are right."""

from typing import Any

import pytest
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.pdf.verification.verify import verify
from tests.pdf.forge import Forge, usage
from tests.pdf.forged_seals import ROOT, SealForge

_DOCUMENT_SIGNING = x509.ObjectIdentifier("1.3.6.1.5.5.7.3.36")
_UNKNOWN = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), b"\x05\x00"), True)


def _name(text: str) -> asn1_x509.Name:
    return asn1_x509.Name.build({"common_name": text})


def _named(text: str) -> dict[str, Any]:
    return {"tsa": asn1_x509.GeneralName("directory_name", _name(text))}


def _extended(*, critical: bool) -> dict[str, Any]:
    extension = {"extn_id": "1.2.3.4.5", "critical": critical, "extn_value": b"\x05\x00"}
    return {"extensions": [extension]}


def _stamped(**wrong: Any) -> SealForge:
    return SealForge(authorities=[Forge(**wrong)])


_CLIENT, _SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH
_CODE, _MAIL = ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.EMAIL_PROTECTION
_STAMPS = ExtendedKeyUsageOID.TIME_STAMPING

WRONG = {
    "content of another type": SealForge(content_type="1.2.840.113549.1.7.6"),
    "the type of timestamps": SealForge(content_type="tst_info"),
    "another certificate named first": SealForge(first_named=b"another"),
    "another serial number named": SealForge(issuer_serial=lambda own: (own.issuer, own.serial_number + 1)),
    "another issuer named": SealForge(issuer_serial=lambda own: (_name("Another"), own.serial_number)),
    "a certificate for programs": SealForge(certificate={"purposes": [_CODE]}),
    "a certificate for servers": SealForge(certificate={"purposes": [_SERVER, _CLIENT]}),
    "a certificate for servers and programs": SealForge(certificate={"purposes": [_SERVER, _CODE]}),
    "a certificate for status answers": SealForge(certificate={"purposes": [ExtendedKeyUsageOID.OCSP_SIGNING]}),
    "a certificate for timestamps": SealForge(certificate={"purposes": [_STAMPS]}),
    "a certificate for log-ins": SealForge(certificate={"purposes": [x509.ObjectIdentifier("1.3.6.1.4.1.311.20.2.2")]}),
    "a key for certificates": SealForge(certificate={"extensions": [usage("key_cert_sign")]}),
    "a key for encryption": SealForge(certificate={"extensions": [usage("key_encipherment")]}),
    "an unknown critical extension": SealForge(certificate={"extensions": [_UNKNOWN]}),
    "an authority that may not sign": _stamped(wrong_certificate={"extensions": [usage("key_encipherment")]}),
    "an authority for lists": _stamped(wrong_certificate={"extensions": [usage("crl_sign")]}),
    "an authority by a purpose that is not critical": _stamped(wrong_certificate={"critical": False}),
    "an authority for programs too": _stamped(wrong_certificate={"purposes": [_STAMPS, _CODE]}),
    "an authority for nothing": _stamped(wrong_certificate={"purposes": []}),
    "an authority with an unknown critical extension": _stamped(wrong_certificate={"extensions": [_UNKNOWN]}),
    "an authority of another name": _stamped(info=_named("Another")),
    "a timestamp with an unknown critical extension": _stamped(info=_extended(critical=True)),
    "a timestamp of something else": SealForge(authorities=[Forge()], stamped=[lambda _: b"else"]),
    "a second timestamp of something else": SealForge(
        authorities=[Forge(), Forge()], stamped=[bytes, lambda _: b"else"]
    ),
    "a second timestamp by nobody trusted": SealForge(authorities=[Forge(), Forge(with_middle=False, name="x")]),
    "a second authority that may not sign": SealForge(
        authorities=[Forge(), Forge(wrong_certificate={"extensions": [usage("key_encipherment")]})]
    ),
    "an outdated hash": SealForge(hash_="sha1"),
}

RIGHT = {
    "nothing odd": SealForge(),
    "version 3": SealForge(version="v3"),
    "attributes in another order": SealForge(in_order=False),
    "the same certificate named twice": SealForge(first_named=b""),
    "issuer and serial number named": SealForge(issuer_serial=lambda own: (own.issuer, own.serial_number)),
    "a certificate for documents": SealForge(certificate={"purposes": [_DOCUMENT_SIGNING]}),
    "a certificate for mail and log-ins": SealForge(certificate={"purposes": [_MAIL, _CLIENT]}),
    "a key for signatures alone": SealForge(certificate={"extensions": [usage("content_commitment")]}),
    "a timestamp": _stamped(),
    "a timestamp that names its authority": _stamped(info=_named("Test Timestamps")),
    "a timestamp with an unknown extension": _stamped(info=_extended(critical=False)),
    "an authority for signatures": _stamped(wrong_certificate={"extensions": [usage("digital_signature")]}),
    "two timestamps": SealForge(authorities=[Forge(), Forge()]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_seal_that_is_wrong_in_one_thing_is_not_valid(kind: str) -> None:
    found = verify(WRONG[kind].sealed(), [ROOT])
    assert not found.ok and found.findings
    assert not (found.intact and found.trusted)


@pytest.mark.parametrize("kind", RIGHT)
def test_a_seal_that_is_odd_but_right_is_valid(kind: str) -> None:
    found = verify(RIGHT[kind].sealed(), [ROOT])
    assert found.ok, found.findings
    assert found.signer == "Signer"
