"""A key in AWS KMS. Needs the extra ``paraph[kms]``; credentials and endpoints are found as AWS's own tools find
them."""

import hashlib
import logging
from collections.abc import Sequence
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError, MetadataRetrievalError
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.keys.certificates import PublicKey, misconfigured
from paraph.keys.signing_key import CertifiedKey, KeySignature, of_key, usable_certificate

logging.getLogger("botocore").setLevel(logging.WARNING)  # below that it logs how it finds credentials

_CALLS = Config(
    connect_timeout=2,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},  # retried after throttling and network faults
    user_agent_extra="paraph",
)
_TRANSIENT = {
    "DependencyTimeoutException",
    "InternalFailure",
    "KMSInternalException",
    "KeyUnavailableException",
    "LimitExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
}


class KmsKey(CertifiedKey):
    """A :class:`~paraph.keys.signing_key.SigningKey` that asks AWS for each signature. KMS gets the digest, never the
    message. The policy of the key must allow ``kms:GetPublicKey`` and ``kms:Sign``."""

    def __init__(self, address: str, passphrase: str, certificates: Sequence[x509.Certificate]) -> None:
        """``address``: ``awskms:`` with a key id, alias (``alias/…``) or ARN, or an ARN alone; ``passphrase``: not
        used; ``certificates``: the key's own and its issuers'. Sign once, to check that it is allowed to.

        Raise ``DomainError("configuration", …)`` when the key or its certificate is missing, refused or does not match,
        and ``DomainError("unavailable", …)`` when the service does not answer.
        """
        del passphrase
        self._address = key = address.removeprefix("awskms:")
        parts = key.split(":")
        region = parts[3] or None if key.startswith("arn:") and len(parts) > 3 else None  # else that of the environment
        try:
            self._client = boto3.session.Session().client("kms", region_name=region, config=_CALLS)
        except BotoCoreError as error:
            raise _refusal(key, error) from error
        public = _public_key(key, self._call("get_public_key", KeyId=key))
        super().__init__(usable_certificate(certificates, of_key(public)))
        self.key_id: str = self._signed(key, tokens.random_bytes(32))["KeyId"]
        """The ARN of the key, which goes on signing even if its alias is moved."""

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of the message. Raise ``DomainError``: ``configuration`` when the certificate has expired or
        AWS refuses, ``unavailable`` when AWS answers none of three attempts."""
        self._usable_certificate.check_not_expired()
        answer = self._signed(self.key_id, hashlib.sha256(message).digest())
        return KeySignature(answer["Signature"], answer["ResponseMetadata"]["RequestId"])

    def _signed(self, key: str, digest: bytes) -> dict[str, Any]:
        return self._call("sign", KeyId=key, Message=digest, MessageType="DIGEST", SigningAlgorithm=self.algorithm)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
        except (ClientError, BotoCoreError) as error:
            raise _refusal(self._address, error) from error
        return answer


def _public_key(key: str, answer: dict[str, Any]) -> PublicKey:
    """Return the key's public key. Refuse all curves but P-256: KMS also offers secp256k1, which no PDF reader
    knows."""
    public = load_der_public_key(answer["PublicKey"])
    if answer["KeyUsage"] == "SIGN_VERIFY":
        if isinstance(public, rsa.RSAPublicKey):
            return public
        if isinstance(public, ec.EllipticCurvePublicKey) and public.curve.name == ec.SECP256R1.name:
            return public
    spec = answer.get("KeySpec") or answer.get("CustomerMasterKeySpec")
    refused = f"The KMS key {key} is {spec} for {answer['KeyUsage']}"
    raise misconfigured(f"{refused}; needed is an RSA or ECC_NIST_P256 key for SIGN_VERIFY.")


def _refusal(key: str, error: ClientError | BotoCoreError) -> DomainError:
    if isinstance(error, ClientError):
        code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        transient = code in _TRANSIENT or status >= 500
        why = f"{code} ({message.strip().rstrip('.')})" if message else code
    else:
        transient = isinstance(error, HTTPClientError | ConnectionError | MetadataRetrievalError)
        why = str(error).strip().rstrip(".")
    says = "cannot be asked" if transient else "cannot be used"
    return DomainError("unavailable" if transient else "configuration", f"The KMS key {key} {says}: {why}.")
