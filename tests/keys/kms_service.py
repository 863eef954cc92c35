"""AWS KMS for the tests: moto's, and a server that misbehaves as the real one can."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import boto3
import moto.kms.utils
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa, utils
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key
from moto import mock_aws

from paraph.kernel import tokens
from paraph.keys.certificates import PublicKey
from paraph.keys.signing_key import PrivateKey
from tests import loopback
from tests.keys.certified_keys import ALGORITHMS, Kind, make_key
from tests.loopback import answered

REGION = "eu-central-1"
SPECS = {"rsa": "RSA_2048", "p-256": "ECC_NIST_P256"}


@contextmanager
def moto_kms(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a client of moto's KMS; in this process, all of boto3 talks to moto."""
    for name, value in {"ACCESS_KEY_ID": "testing", "SECRET_ACCESS_KEY": "testing", "DEFAULT_REGION": REGION}.items():
        patch.setenv(f"AWS_{name}", value)
    _sign_digests(patch)
    with mock_aws():
        yield boto3.client("kms", region_name=REGION)


def moto_key(client: Any, kind: Kind, **options: str) -> tuple[str, PublicKey]:
    """Make a key and return its ARN and its public key."""
    described = client.create_key(**{"KeySpec": SPECS[kind], "KeyUsage": "SIGN_VERIFY"} | options)["KeyMetadata"]
    public: Any = load_der_public_key(client.get_public_key(KeyId=described["KeyId"])["PublicKey"])
    return described["Arn"], public


def _sign_digests(patch: pytest.MonkeyPatch) -> None:
    """Make moto sign digests: up to 5.2.5 it ignores MessageType and hashes a digest like a message."""

    def of_rsa(self: Any, message: bytes, signing_algorithm: str) -> bytes:
        assert len(message) == 32 and signing_algorithm == ALGORITHMS["rsa"]
        signature: bytes = self.private_key.sign(message, PKCS1v15(), utils.Prehashed(SHA256()))
        return signature

    def of_curve(self: Any, message: bytes, signing_algorithm: str) -> bytes:
        assert len(message) == 32 and signing_algorithm == ALGORITHMS["p-256"]
        signature: bytes = self.private_key.sign(message, ec.ECDSA(utils.Prehashed(SHA256())))
        return signature

    patch.setattr(moto.kms.utils.RSAPrivateKey, "sign", of_rsa)
    patch.setattr(moto.kms.utils.ECDSAPrivateKey, "sign", of_curve)


Fault = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class KmsServer:
    """KMS over HTTP with one key. ``faults``: what the next calls meet instead of answers; ``calls``: all requests."""

    url: str = ""
    key: PrivateKey = field(default_factory=lambda: make_key("p-256"))
    faults: list[Fault] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    arn: str = f"arn:aws:kms:{REGION}:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        operation = handler.headers["X-Amz-Target"].removeprefix("TrentService.")
        asked = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.calls.append((operation, asked))
        if self.faults:
            self.faults.pop(0)(handler)
        else:
            send(handler, 200, getattr(self, f"_{operation}")(asked))

    def _GetPublicKey(self, asked: dict[str, Any]) -> dict[str, Any]:
        public = self.key.public_key()
        encoded = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        kind: Kind = "rsa" if isinstance(public, rsa.RSAPublicKey) else "p-256"
        usage = {"KeySpec": SPECS[kind], "KeyUsage": "SIGN_VERIFY", "SigningAlgorithms": [ALGORITHMS[kind]]}
        return {"KeyId": self.arn, "PublicKey": base64.b64encode(encoded).decode(), **usage}

    def _Sign(self, asked: dict[str, Any]) -> dict[str, Any]:
        digest = base64.b64decode(asked["Message"])
        assert asked["MessageType"] == "DIGEST" and len(digest) == 32
        hashed = utils.Prehashed(SHA256())
        if isinstance(self.key, rsa.RSAPrivateKey):
            assert asked["SigningAlgorithm"] == "RSASSA_PSS_SHA_256"
            signature = self.key.sign(digest, PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH), hashed)
        else:
            signature = self.key.sign(digest, ec.ECDSA(hashed))
        return {"KeyId": self.arn, "Signature": base64.b64encode(signature).decode()}


def send(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    content = json.dumps(body).encode()
    named = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-RequestId": f"request-{tokens.random_hex(8)}"}
    loopback.send(handler, status, content, **named)


def fault(status: int, code: str, message: str = "") -> Fault:
    return lambda handler: send(handler, status, {"__type": code, "message": message})


def silence(seconds: float) -> Fault:
    return lambda handler: time.sleep(seconds)


@contextmanager
def kms_server(patch: pytest.MonkeyPatch) -> Iterator[KmsServer]:
    """Run a server and point boto3 to it by the environment."""
    service = KmsServer()

    with answered(service.answer) as server:
        service.url = server.url
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_ENDPOINT_URL_KMS", service.url)
        yield service
