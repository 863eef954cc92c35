"""A key that a provider of remote seals keeps, by the API of the Cloud Signature Consortium (CSC)."""

import base64
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from cryptography import x509
from cryptography.x509.oid import SignatureAlgorithmOID
from pydantic import Base64Bytes, Field

from paraph.kernel import tokens
from paraph.keys.certificates import extension, subject
from paraph.keys.chains import is_root
from paraph.keys.csc_provider import Answer, Call, Provider, ProviderRefused
from paraph.keys.signing_key import (
    ECDSA_SHA256,
    RSA_PSS_SHA256,
    RSA_SHA256,
    CertificateRefused,
    CertifiedKey,
    CscClient,
    KeySignature,
    is_signature,
    usable_certificate,
)

_SHA256 = "2.16.840.1.101.3.4.2.1"
_RSA, _PSS = "1.2.840.113549.1.1.1", SignatureAlgorithmOID.RSASSA_PSS.dotted_string
_ALGORITHMS = (
    (SignatureAlgorithmOID.RSA_WITH_SHA256.dotted_string, RSA_SHA256),
    (_RSA, RSA_SHA256),
    (_PSS, RSA_PSS_SHA256),
    (SignatureAlgorithmOID.ECDSA_WITH_SHA256.dotted_string, ECDSA_SHA256),
)
"""``key/algo`` of ``credentials/info``, in the order of preference, and what we call it."""
_PSS_PARAMETERS = "MDSgDzANBglghkgBZQMEAgEFAKEcMBoGCSqGSIb3DQEBCDANBglghkgBZQMEAgEFAKIDAgEg"
"""RSASSA-PSS-params (RFC 4055 §3.1): SHA-256, MGF1 with SHA-256, a salt of 32 bytes."""
_WRONG_PIN = {"invalid_pin", "invalid_authentication_data"}
_refused: set[tuple[str, bytes]] = set()
"""Address and digest of each refused PIN. Trying such a PIN again would lock the credential."""


class _Key(Answer):
    status: Literal["enabled"]
    algo: list[str]


class _Cert(Answer):
    status: Literal["valid"] = "valid"
    certificates: list[Base64Bytes] = Field(min_length=1, max_length=10)


class _Factor(Answer):
    presence: str = "false"


class _Object(Answer):
    type: str
    id: str
    generator: str = ""


class _Auth(Answer):
    mode: str = ""
    expression: str = "AND"
    objects: list[_Object] = []


class _Credential(Answer):
    """The answer of ``credentials/info``. Version 1.0.4 has ``authMode``, ``PIN`` and ``OTP``, version 2 ``auth``."""

    key: _Key
    cert: _Cert
    mode: str = Field("", alias="authMode")
    pin: _Factor = Field(_Factor(), alias="PIN")
    otp: _Factor = Field(_Factor(), alias="OTP")
    auth: _Auth = _Auth()


class _Authorization(Answer):
    sad: str = Field(alias="SAD", min_length=1)


class _Signatures(Answer):
    signatures: tuple[Base64Bytes]


class CscKey(CertifiedKey):
    """A :class:`~paraph.keys.signing_key.SigningKey` that asks a provider for an authorization and a signature at each
    seal. The provider gets the digest, never the message."""

    def __init__(self, address: str, client: CscClient, certificates: Sequence[x509.Certificate]) -> None:
        """``certificates``: the roots that the operator trusts, and issuers that the provider does not send. Sign
        nothing, since signatures cost money. Raise ``DomainError``: ``configuration`` when the credential or its
        certificate cannot be used, ``unavailable`` when the provider answers none of three attempts."""
        self._provider, self._tried_pin = Provider(address, client), (address, tokens.sha256(client.pin.encode()))
        found = self._read()
        chain = self._certificates(found)
        known = [each for each in chain if not is_root(each) or each in certificates]
        super().__init__(usable_certificate([*known, *certificates], chain[0].__eq__))
        if extension(chain[0], x509.KeyUsage) is None:
            raise CertificateRefused(f"{subject(chain[0])} has no key usage for signatures.")
        self._sign_algorithm, self.algorithm = self._chosen(found.key.algo, self.algorithm)
        self._authentication = self._authenticated(found, client.pin)
        self.key_id: str = address
        """The address of the key, which contains no secret."""
        self.provider: str = self._provider.name
        self.credential: str = self._provider.credential

    def check_usable(self) -> None:
        """Ask whether the credential can still be used, and sign nothing. Raise as the key does when it is opened."""
        self._check_pin()
        if self._certificates(self._read())[0] != self._usable_certificate.own:
            raise self._provider.refused("its certificate has changed: a restart takes the new one")

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of the message, by an authorization for this one digest. Raise ``DomainError``:
        ``configuration`` when the certificate has expired, the provider refuses or its signature is wrong,
        ``unavailable`` when it answers none of three attempts."""
        self._usable_certificate.check_not_expired()
        self._check_pin()
        request_id = tokens.random_hex(16)
        try:
            signature = self._provider.attempt(partial(self._signed, hashlib.sha256(message).digest(), request_id))
        except ProviderRefused as refusal:
            if refusal.error in _WRONG_PIN:
                _refused.add(self._tried_pin)
            raise
        is_pss = self.algorithm == RSA_PSS_SHA256
        if not is_signature(self._usable_certificate.own, message, signature, is_pss=is_pss):
            raise self._provider.refused("its provider returned a signature that its certificate does not verify")
        return KeySignature(signature, request_id)

    def _signed(self, digest: bytes, request_id: str, call: Call) -> bytes:
        is_v1 = self._provider.version == "v1"
        asked: dict[str, Any] = {
            "credentialID": self._provider.credential,
            "hash" if is_v1 else "hashes": [base64.b64encode(digest).decode()],
            "clientData": request_id,  # by which the provider's records are found
        }
        hashed = {"hashAlgo" if is_v1 else "hashAlgorithmOID": _SHA256}
        authorized = asked | self._authentication | {"numSignatures": 1} | ({} if is_v1 else hashed)
        asked["SAD"] = call(_Authorization, "credentials/authorize", authorized).sad
        asked["signAlgo"] = self._sign_algorithm
        if self._sign_algorithm in (_RSA, _PSS):  # which do not name the hash
            asked |= hashed
        if self._sign_algorithm == _PSS:
            asked["signAlgoParams"] = _PSS_PARAMETERS
        return call(_Signatures, "signatures/signHash", asked).signatures[0]

    def _check_pin(self) -> None:
        if self._tried_pin in _refused:
            why = "its provider refused PARAPH_CSC_PIN, which is not tried again so that nothing is locked"
            raise self._provider.refused(why)

    def _read(self) -> _Credential:
        asked = {"credentialID": self._provider.credential, "certificates": "chain", "authInfo": True}
        return self._provider.attempt(lambda call: call(_Credential, "credentials/info", asked))

    def _certificates(self, found: _Credential) -> list[x509.Certificate]:
        """Return the credential's own certificate and those of its issuers."""
        try:
            return [x509.load_der_x509_certificate(each) for each in found.cert.certificates]
        except ValueError as error:
            raise self._provider.refused("its provider sends a certificate that cannot be read") from error

    def _chosen(self, offered: list[str], own: str) -> tuple[str, str]:
        """Return the algorithm for ``signAlgo`` and our name for it. ``own``: that of the certificate; a key for RSA
        may also sign with RSASSA-PSS."""
        fitting = (own, RSA_PSS_SHA256) if own == RSA_SHA256 else (own,)
        for identifier, algorithm in _ALGORITHMS:
            if identifier in offered and algorithm in fitting:
                return identifier, algorithm
        raise self._provider.refused(f"it signs by {', '.join(offered)} alone, none of which is {fitting[-1]}")

    def _authenticated(self, found: _Credential, pin: str) -> dict[str, Any]:
        """Return what ``credentials/authorize`` takes at each seal: the PIN, or nothing. Refuse whatever needs a
        person."""
        mode, is_v1, objects = found.mode or found.auth.mode, self._provider.version == "v1", found.auth.objects
        if mode == "implicit" or (mode == "explicit" and not is_v1 and not objects):
            return {}
        passwords = [each for each in objects if each.type == "Password" and not each.generator]
        is_enough = len(passwords) == 1 and (len(objects) == 1 or "AND" not in found.auth.expression)
        if mode != "explicit" or not (found.otp.presence != "true" if is_v1 else is_enough):
            raise self._provider.refused(f"its provider wants a person at each seal, not just a PIN (mode {mode})")
        presence = found.pin.presence if is_v1 else "true"
        if presence == "true" and not pin:
            raise self._provider.refused("its provider wants the PIN of PARAPH_CSC_PIN at each seal")
        given = {"PIN": pin} if is_v1 else {"authData": [{"id": each.id, "value": pin} for each in passwords]}
        return given if pin and presence != "false" else {}
