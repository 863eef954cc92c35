"""Providers of remote seals for the tests. One is written here: a strict implementation of the API of the Cloud
Signature Consortium, version 2 or 1.0.4, which can misbehave as a real one can. The other is certomancer's."""

import asyncio
import base64
import contextlib
import json
import ssl
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import jsonschema_rs
import pytest
from aiohttp import web
from certomancer.registry import ArchLabel, CertLabel, CertomancerConfig
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa, utils
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from csc_dummy.csc_dummy_server import CSCWithCertomancer

from paraph.kernel import tokens
from paraph.keys import CscClient, SigningKey, open_key
from paraph.keys.signing_key import PrivateKey
from tests import loopback
from tests.keys.certified_keys import Root, make_key, make_root
from tests.keys.odd_chains import pkcs8
from tests.loopback import answered
from tests.receiver import own_authority

Version = Literal["v1", "v2"]
Json = dict[str, Any]
CLIENT = CscClient(id="acme", secret="the secret", pin="123456")
SHA_256 = "2.16.840.1.101.3.4.2.1"
RSA, RSA_SHA256, RSA_PSS = "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.10"
ECDSA_SHA256 = "1.2.840.10045.4.3.2"


def _taken(required: str, **optional: Json) -> Json:
    """Return the schema of a body. ``required``: names of its strings; ``hash`` and ``hashes`` are lists of strings."""
    text, texts = {"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}
    named = {name: texts if name in ("hash", "hashes") else text for name in required.split()}
    named |= {"numSignatures": {"type": "integer", "minimum": 1}} if "numSignatures" in named else {}
    properties = named | {"clientData": text} | optional
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": [*named]}


_TEXT: Json = {"type": "string"}
_OBJECTS: Json = {
    "type": "array",
    "items": {"type": "object", "required": ["id"], "properties": {"id": _TEXT, "value": _TEXT}},
}
_WANTED: dict[str, Json] = {"certificates": {"enum": ["none", "single", "chain"]}}
_WANTED |= {"certInfo": {"type": "boolean"}, "authInfo": {"type": "boolean"}, "lang": _TEXT}
_OF_BOTH = {"info": _taken("", lang=_TEXT), "credentials/info": _taken("credentialID", **_WANTED)}
BODIES: dict[Version, dict[str, Json]] = {
    "v1": {
        **_OF_BOTH,
        "credentials/authorize": _taken("credentialID numSignatures hash", PIN=_TEXT, OTP=_TEXT, description=_TEXT),
        "signatures/signHash": _taken("credentialID SAD hash signAlgo", hashAlgo=_TEXT, signAlgoParams=_TEXT),
    },
    "v2": {
        **_OF_BOTH,
        "credentials/authorize": _taken(
            "credentialID numSignatures hashes hashAlgorithmOID", authData=_OBJECTS, description=_TEXT
        ),
        "signatures/signHash": _taken(
            "credentialID SAD hashes signAlgo",
            hashAlgorithmOID=_TEXT,
            signAlgoParams=_TEXT,
            operationMode={"enum": ["S"]},
        ),
    },
}
"""The bodies of requests as published (CSC API 1.0.4.0 and 2.0, §11), with the digests that credentials of SCAL2 demand
for authorization."""


class Refused(Exception):
    """An answer in the provider's own form of errors."""

    def __init__(self, status: int, error: str, description: str = "") -> None:
        super().__init__(error)
        self.status, self.body = status, {"error": error} | ({"error_description": description} if description else {})


Fault = Callable[["Provider", BaseHTTPRequestHandler], None]


@dataclass
class Provider:
    """A provider of remote seals. ``credential``: the answer to ``credentials/info``; ``faults``: what the next calls
    of a method meet instead of an answer; ``calls``: all requests so far; ``signed``: how many digests were signed."""

    version: Version
    key: PrivateKey
    certificates: list[x509.Certificate]
    root: Path
    url: str = ""
    info: Json = field(default_factory=dict)
    credential: Json = field(default_factory=dict)
    metadata: Json = field(default_factory=dict)
    expires_in: int = 3600
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    signed: int = 0
    changed: Callable[[bytes], bytes] = lambda signature: signature
    _tokens: set[str] = field(default_factory=set)
    _sads: dict[str, list[str]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"csc+{self.url}/csc/{self.version}?credential=GX0112348"

    def open(self, client: CscClient = CLIENT) -> SigningKey:
        return open_key(self.address, self.root, client=client)

    @property
    def asked(self) -> list[str]:
        """Return the methods that were called, without the bodies."""
        return [method for method, _ in self.calls]

    def begin(self, url: str) -> None:
        self.url, is_rsa = url, isinstance(self.key, rsa.RSAPrivateKey)
        self.info = {"specs": "2.0.0.0", "name": "ACME Trust Services", "authType": ["oauth2client"], "oauth2": url}
        chain = [base64.b64encode(each.public_bytes(Encoding.DER)).decode() for each in self.certificates]
        self.credential = {
            "key": {"status": "enabled", "algo": [RSA, RSA_SHA256] if is_rsa else [ECDSA_SHA256], "len": 2048},
            "cert": {"status": "valid", "certificates": chain},
            "SCAL": "2",
            "multisign": 1,
            "description": None,
        }
        if self.version == "v1":
            self.info["specs"] = "1.0.4.0"
            self.credential |= {"authMode": "explicit", "PIN": {"presence": "true"}, "OTP": {"presence": "false"}}
        else:
            pin = {"type": "Password", "id": "PIN", "format": "N", "label": "PIN", "generator": None}
            self.credential["auth"] = {"mode": "explicit", "expression": "PIN", "objects": [pin]}

    def forget_tokens(self) -> None:
        self._tokens.clear()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        method = handler.path.removeprefix(f"/csc/{self.version}/").lstrip("/")
        is_form = handler.headers.get("Content-Type") == "application/x-www-form-urlencoded"
        body = (
            {name: each[0] for name, each in parse_qs(content.decode()).items()}
            if is_form
            else json.loads(content or "{}")
        )
        self.calls.append((method, body))
        try:
            if self.faults.get(method):
                self.faults[method].pop(0)(self, handler)
                return
            send(handler, 200, self._answered(method, body, handler.headers.get("Authorization", "")))
        except Refused as refused:
            send(handler, refused.status, refused.body)

    def _answered(self, method: str, body: Json, authorization: str) -> Json:
        if method == "oauth2/token":
            return self._token(body)
        if method.startswith(".well-known/"):
            return self.metadata
        if method not in BODIES[self.version]:
            raise Refused(501, "not_implemented")
        for problem in jsonschema_rs.validator_for(BODIES[self.version][method]).iter_errors(body):
            raise Refused(400, "invalid_request", str(problem.message))
        if method == "info":
            return self.info
        if "oauth2client" in self.info["authType"] and authorization.removeprefix("Bearer ") not in self._tokens:
            raise Refused(401, "invalid_token", "The access token expired")
        if body["credentialID"] != "GX0112348":
            raise Refused(400, "invalid_request", "Invalid parameter credentialID")
        if method == "credentials/info":
            return self.credential
        return self._authorize(body) if method == "credentials/authorize" else self._sign(body)

    def _token(self, form: Json) -> Json:
        if form.get("grant_type") != "client_credentials":
            raise Refused(400, "unsupported_grant_type")
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT.id, CLIENT.secret):
            raise Refused(401, "invalid_client", "Invalid parameter client_secret")
        token = tokens.random_hex(16)
        self._tokens.add(token)
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in}

    def _authorize(self, body: Json) -> Json:
        given = [body.get("PIN")] if self.version == "v1" else [each["value"] for each in body.get("authData", [])]
        wants_pin = self.credential.get("auth", {}).get("objects") or self.credential.get("authMode") == "explicit"
        if wants_pin and given != [CLIENT.pin]:
            error = "invalid_pin" if self.version == "v1" else "invalid_authentication_data"
            raise Refused(400, error, "The authentication data is invalid")
        sad = tokens.random_hex(16)
        self._sads[sad] = body["hash" if self.version == "v1" else "hashes"]
        assert body["numSignatures"] == len(self._sads[sad]) == 1
        return {"SAD": sad, "expiresIn": 300}

    def _sign(self, body: Json) -> Json:
        digests, named = ("hash", "hashAlgo") if self.version == "v1" else ("hashes", "hashAlgorithmOID")
        if self._sads.pop(body["SAD"], None) != body[digests]:
            raise Refused(400, "invalid_request", "Hash is not authorized by the SAD")
        way = body["signAlgo"]
        if way not in self.credential["key"]["algo"]:
            raise Refused(400, "invalid_request", "Invalid parameter signAlgo")
        if way in (RSA, RSA_PSS) and body.get(named) != SHA_256:
            raise Refused(400, "invalid_request", f"Missing (or invalid type) string parameter {named}")
        if (way == RSA_PSS) != ("signAlgoParams" in body):
            raise Refused(400, "invalid_request", "Invalid parameter signAlgoParams")
        signatures = [base64.b64encode(self.changed(self._signature(way, each))).decode() for each in body[digests]]
        return {"signatures": signatures}

    def _signature(self, way: str, digest: str) -> bytes:
        hashed, content = utils.Prehashed(SHA256()), base64.b64decode(digest, validate=True)
        assert len(content) == 32
        self.signed += 1
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            return self.key.sign(content, ec.ECDSA(hashed))
        padding = PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH) if way == RSA_PSS else PKCS1v15()
        return self.key.sign(content, padding, hashed)


def send(handler: BaseHTTPRequestHandler, status: int, body: Json | bytes) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    loopback.send(handler, status, content, Content_Type="application/json;charset=UTF-8")


def fault(status: int, body: Json | bytes = b"") -> Fault:
    return lambda provider, handler: send(handler, status, body)


def silence(provider: Provider, handler: BaseHTTPRequestHandler) -> None:
    """Send no answer until the client gives up."""
    handler.connection.settimeout(60)
    with contextlib.suppress(OSError):
        handler.rfile.read(1)
    handler.close_connection = True


def hang_up(provider: Provider, handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@contextmanager
def provider(
    version: Version,
    folder: Path,
    patch: pytest.MonkeyPatch,
    *,
    key: PrivateKey | None = None,
    root: Root | None = None,
    certificates: list[x509.Certificate] | None = None,
) -> Iterator[Provider]:
    """Run a provider over TLS whose authority this process trusts. ``root.pem`` holds the root of its certificates."""
    root, key = root or make_root(), key or make_key("p-256")
    service = Provider(version, key, certificates or [root.issue(key.public_key()), root.certificate], root.pem(folder))

    with answered(service.answer, tls=_trusted(folder, patch)) as server:
        service.begin(f"https://localhost:{server.server_port}")
        yield service


def _trusted(folder: Path, patch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Return TLS for a server on this machine, and trust its authority as an operator's own would be trusted."""
    (folder / "tls").mkdir()
    authority = own_authority(folder / "tls", "localhost")
    patch.setenv("SSL_CERT_FILE", str(folder / "tls" / "root.pem"))
    return authority.server


_CERTOMANCER = """
external-url-prefix: "http://localhost"
keysets:
  acme:
    path-prefix: .
    keys: {root: {path: root-key.pem}, seal: {path: seal-key.pem}}
pki-architectures:
  acme:
    keyset: acme
    entity-defaults: {country-name: DE, organization-name: Acme Trust}
    entities: {root: {common-name: Root}, seal: {common-name: Seal of Acme}}
    certs:
      root:
        subject: root
        issuer: root
        validity: {valid-from: "2020-01-01T00:00:00+0000", valid-to: "2120-01-01T00:00:00+0000"}
        profiles: [{id: simple-ca}]
      seal:
        subject: seal
        issuer: root
        validity: {valid-from: "2020-01-01T00:00:00+0000", valid-to: "2119-01-01T00:00:00+0000"}
        profiles: [{id: digsig-commitment}]
"""


@contextmanager
def certomancer_provider(folder: Path, patch: pytest.MonkeyPatch, key: PrivateKey) -> Iterator[str]:
    """Run certomancer's provider, which has version 1.0.4 and no access tokens. Yield the address of a credential for
    ``key``; its root is in ``root.pem``."""
    (folder / "root-key.pem").write_bytes(pkcs8(make_key("p-256")))
    (folder / "seal-key.pem").write_bytes(pkcs8(key))
    config = CertomancerConfig.from_yaml(_CERTOMANCER, key_search_dir=str(folder))
    certificate = config.get_pki_arch(ArchLabel("acme")).get_cert(CertLabel("root"))
    root = x509.load_der_x509_certificate(certificate.dump())
    (folder / "root.pem").write_bytes(root.public_bytes(Encoding.PEM))
    with warnings.catch_warnings(action="ignore"):  # certomancer uses deprecated names of aiohttp
        service = CSCWithCertomancer(config)
    service.register_routes()
    loop, runner = asyncio.new_event_loop(), web.AppRunner(service.app)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(30)

    run(runner.setup())
    run(web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_trusted(folder, patch)).start())
    try:
        yield f"csc+https://localhost:{runner.addresses[0][1]}/csc/v1?credential=acme/seal"
    finally:
        run(runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
