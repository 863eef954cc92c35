"""The built-in authority, judged by OpenSSL, and the client, against OpenSSL behind HTTP and servers that misbehave."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from asn1crypto import tsp
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings
from paraph.keys import KeyKind
from paraph.pdf.pki import der
from paraph.pdf.timestamps.authorities import POLICY_OID, BuiltInAuthority, HttpAuthority, timestamping
from paraph.pdf.timestamps.timestamp import Timestamping, stamp_time
from tests.independent import openssl
from tests.keys.odd_chains import CHAINS
from tests.loopback import answered, send
from tests.pdf import forge
from tests.pdf.sealed_files import OWN, ROOTS, authority, root_file
from tests.pdf.timestamps.test_timestamp import Responder

DIGEST = hashlib.sha256(b"a seal's signature value").digest()
REPLY = "application/timestamp-reply"
Respond = Callable[[BaseHTTPRequestHandler, bytes], object]
_MORE = """accuracy = secs:1, millisecs:500
ordering = yes
tsa_name = yes
ess_cert_id_chain = yes
"""
BUILT_IN = BuiltInAuthority(OWN.timestamp_key)
OVER = threading.Event()  # set once the client has given up, so that stalling servers end


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("kind", ["p-256", "rsa-3072"])
def test_openssl_accepts_its_tokens(tmp_path: Path, kind: KeyKind, algorithm: str) -> None:
    built_in = BuiltInAuthority(authority(kind).timestamp_key)
    content, query, reply = tmp_path / "content", tmp_path / "query", tmp_path / "reply"
    content.write_bytes(b"some content")
    openssl("ts", "-query", "-data", content, f"-{algorithm}", "-cert", "-out", query)
    reply.write_bytes(built_in.answer(query.read_bytes()))
    verify = ("ts", "-verify", "-in", reply, "-CAfile", root_file(tmp_path, kind))
    assert "Verification: OK" in openssl(*verify, "-queryfile", query)
    assert "Verification: OK" in openssl(*verify, "-data", content)
    content.write_bytes(b"other content")
    assert "Verification: FAILED" in openssl(*verify, "-data", content)
    text = openssl("ts", "-reply", "-in", reply, "-text")
    assert POLICY_OID in text and "Accuracy: 0x01 seconds" in text and "Paraph Development Timestamp" in text


def test_the_certificate_comes_only_where_it_is_wanted(tmp_path: Path) -> None:
    content, query = tmp_path / "content", tmp_path / "query"
    content.write_bytes(b"some content")
    openssl("ts", "-query", "-data", content, "-sha256", "-out", query)
    bare = BUILT_IN.answer(query.read_bytes())
    openssl("ts", "-query", "-data", content, "-sha256", "-cert", "-out", query)
    assert len(BUILT_IN.answer(query.read_bytes())) > len(bare) + 500


def test_serial_numbers_differ() -> None:
    tokens = [tsp.TimeStampResp.load(BUILT_IN.answer(request()))["time_stamp_token"] for _ in range(50)]
    infos = [token["content"]["encap_content_info"]["content"].parsed for token in tokens]
    assert len({info["serial_number"].native for info in infos}) == 50


@pytest.mark.parametrize(
    ("request_", "failure", "status"),
    [
        (b"garbage", "wrong format", "not a TimeStampReq"),
        (b"", "wrong format", "not a TimeStampReq"),
        (b"\x30" + b"\x80" * 40, "wrong format", "not a TimeStampReq"),
        (b"\0" * 5000, "wrong format", "too large"),
        ({"version": 2}, "not permitted or supported", "Only version 1"),
        ({"hash_": "1.3.14.3.2.26", "digest": b"d" * 20}, "unsupported algorithm", "must be SHA-256"),
        ({"digest": b"d" * 31}, "wrong format", "length of its hash"),
        ({"policy": "1.2.3.4"}, "policy is not supported", POLICY_OID),
        ({"more": der.tlv(0xA0, b"")}, "extension is not supported", "No extension"),
        ({"more": der.octet_string(b"")}, "wrong format", "a field that is not known"),
    ],
)
def test_refusals_say_why(tmp_path: Path, request_: bytes | dict[str, object], failure: str, status: str) -> None:
    encoded = request_ if isinstance(request_, bytes) else request(**request_)  # type: ignore[arg-type]
    reply = tmp_path / "reply"
    reply.write_bytes(BUILT_IN.answer(encoded))
    told = openssl("ts", "-reply", "-in", reply, "-text")
    assert "Status: Rejected" in told and status in told
    assert failure in told


def test_a_key_for_anything_else_is_refused() -> None:
    with pytest.raises(DomainError, match="not one for timestamps alone"):
        BuiltInAuthority(OWN.sealing_key)


def request(
    *,
    version: int = 1,
    hash_: str = "2.16.840.1.101.3.4.2.1",
    digest: bytes = hashlib.sha256(b"").digest(),
    policy: str = "",
    more: bytes = b"",
) -> bytes:
    imprint = der.sequence(der.sequence(der.oid(hash_)), der.octet_string(digest))
    return der.sequence(der.integer(version), imprint, der.oid(policy) if policy else b"", more)


@contextmanager
def server(respond: Respond, host: str = "127.0.0.1") -> Iterator[str]:
    """Run an HTTP server at ``host`` that answers every POST with ``respond``; yield its address."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        respond(handler, handler.rfile.read(int(handler.headers["Content-Length"])))

    with answered(answer, host) as running:
        yield f"{running.url}/"


def sent(body: bytes, media_type: str = REPLY, status: int = 200) -> Respond:
    return lambda handler, _: send(handler, status, body, Content_Type=media_type)


def openssl_responder(folder: Path) -> Respond:
    """Return a responder by `openssl ts -reply`, with a certificate below the test root."""
    responder = Responder(folder, forge.rsa_key(), forge.leaf(forge.rsa_key()), (forge.middle(),), more=_MORE)
    media_type = f"{REPLY}; charset=binary"
    return lambda handler, body: send(handler, body=responder.answer(body, 10), Content_Type=media_type)


def trusting(*urls: str, seconds: float = 10) -> Timestamping:
    return Timestamping([HttpAuthority(url) for url in urls], [forge.der_of(forge.root())], seconds)


def drip(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", REPLY)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not OVER.wait(0.1):
        try:
            handler.wfile.write(b"0")
            handler.wfile.flush()
        except OSError:
            break
    handler.close_connection = True


def redirect(location: str, status: int = 301) -> Respond:
    return lambda handler, _: send(handler, status, Location=location)


@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (sent(b"", status=500), "HTTP status 500"),
        (
            redirect("http://169.254.169.254/"),
            "redirects to http://169.254.169.254/, which PARAPH_TIMESTAMP_AUTHORITIES",
        ),
        (redirect("ftp://127.0.0.1/"), "redirects to ftp://127.0.0.1/, which PARAPH_TIMESTAMP_AUTHORITIES"),
        (redirect("/"), "redirects more than 3 times"),
        (redirect("/", 303), "HTTP status 303"),
        (sent(b"<p>", "text/html; charset=utf-8"), "answered with text/html instead"),
        (sent(b"", ""), "answered with no media type instead"),
        (sent(b"garbage"), "not one of a timestamp authority"),
        (sent(b"0" * 300_000), "its answer is too large"),
        (lambda handler, body: handler.wfile.write(b"not HTTP at all\r\n\r\n"), "cannot be reached"),
        (lambda handler, body: OVER.wait(60), "no answer within 0.5 seconds"),
        (drip, "no whole answer within 0.5 seconds"),
    ],
)
def test_servers_that_misbehave(respond: Respond, reason: str) -> None:
    """The reason that is given names no credentials."""
    OVER.clear()
    with server(respond) as url:
        stamp, failures = stamp_time(DIGEST, trusting(url.replace("http://", "http://me:secret@"), seconds=0.5))
        OVER.set()
    assert stamp is None and len(failures) == 1
    assert reason in failures[0] and failures[0].startswith(url)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_host_is_followed_with_request_and_credentials(status: int, tmp_path: Path) -> None:
    answer, seen = openssl_responder(tmp_path), []

    def respond(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        seen.append((handler.path, handler.headers["Authorization"]))
        (answer if handler.path == "/tsa" else redirect("/tsa", status))(handler, body)

    with server(respond) as url:
        stamp, failures = stamp_time(DIGEST, trusting(url.replace("http://", "http://me:secret@")))
    assert stamp is not None and failures == []
    assert seen == [("/", "Basic bWU6c2VjcmV0"), ("/tsa", "Basic bWU6c2VjcmV0")]


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/timestamp-response", "", "text/html"])
def test_a_token_that_verifies_may_have_any_media_type(media_type: str) -> None:
    with server(lambda handler, body: send(handler, body=BUILT_IN.answer(body), Content_Type=media_type)) as url:
        stamp, failures = stamp_time(DIGEST, Timestamping([HttpAuthority(url)], ROOTS))
    assert failures == [] and stamp is not None


def test_a_connection_that_breaks_is_tried_once_more(tmp_path: Path) -> None:
    answer, asked = openssl_responder(tmp_path), []

    def respond(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        asked.append(handler.client_address)
        if len(asked) % 3 == 2:  # the server closes a kept connection as the next request arrives
            handler.close_connection = True
        else:
            answer(handler, body)

    with server(respond) as url:
        for _ in range(2):
            stamp, failures = stamp_time(DIGEST, trusting(url))
            assert stamp is not None and failures == []
    assert len(asked) == 3 and asked[0] == asked[1] != asked[2]


def test_addresses_where_nobody_answers_are_a_reason() -> None:
    for url in ("http://127.0.0.1:1/", "http://", "http://[", "http://127.0.0.1:99999/", "http://a:b/"):
        stamp, failures = stamp_time(DIGEST, trusting(url))
        assert stamp is None and "gave no usable timestamp: it cannot be reached (" in failures[0]


def test_the_settings_name_authorities_in_order(tmp_path: Path) -> None:
    roots = tmp_path / "roots.pem"
    roots.write_bytes(forge.root().public_bytes(Encoding.PEM))
    settings = Settings(timestamp_authorities="https://tsa.example.com/x, built-in", timestamp_roots=roots)
    made = timestamping(settings, OWN)
    assert [authority.name for authority in made.authorities] == ["https://tsa.example.com/x", "built-in"]
    assert made.roots == [OWN.root, forge.der_of(forge.root())]
    assert timestamping(Settings(), OWN).roots == ROOTS


@pytest.mark.parametrize(
    ("authorities", "sentence"),
    [("https://tsa.example.com", "PARAPH_TIMESTAMP_ROOTS must name"), ("ftp://x", "neither an http address nor")],
)
def test_settings_that_cannot_work(authorities: str, sentence: str) -> None:
    with pytest.raises(DomainError, match=sentence):
        timestamping(Settings(timestamp_authorities=authorities), OWN)


@pytest.mark.parametrize("kind", ["curve by explicit parameters", "T61String", "weak RSA"])
def test_a_root_that_could_never_be_trusted_is_refused_by_its_file(kind: str, tmp_path: Path) -> None:
    odd = CHAINS[kind]()
    (tmp_path / "roots.pem").write_bytes(forge.root().public_bytes(Encoding.PEM) + odd.certificates)
    settings = Settings(timestamp_authorities="https://tsa.example.com", timestamp_roots=tmp_path / "roots.pem")
    with pytest.raises(DomainError, match=rf"roots\.pem: The certificate .*{odd.reason}"):
        timestamping(settings, OWN)
