"""The built-in timestamp authority, judged by OpenSSL."""

import hashlib
from pathlib import Path

import pytest
from asn1crypto import tsp

from paraph.kernel.errors import DomainError
from paraph.keys import KeyKind, development_authority
from paraph.pdf.pki import der
from paraph.pdf.timestamps.authorities import POLICY_OID, BuiltInAuthority
from tests.independent import openssl
from tests.pdf import sealed_files

SECRET = b"s" * 32


@pytest.fixture
def authority(tmp_path: Path) -> BuiltInAuthority:
    return BuiltInAuthority(development_authority(tmp_path, SECRET).timestamp_key)


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("kind", ["p-256", "rsa-3072"])
def test_openssl_accepts_its_tokens(tmp_path: Path, kind: KeyKind, algorithm: str) -> None:
    authority = BuiltInAuthority(sealed_files.authority(kind).timestamp_key)
    content, query, reply = tmp_path / "content", tmp_path / "query", tmp_path / "reply"
    content.write_bytes(b"some content")
    openssl("ts", "-query", "-data", content, f"-{algorithm}", "-cert", "-out", query)
    reply.write_bytes(authority.answer(query.read_bytes()))
    verify = ("ts", "-verify", "-in", reply, "-CAfile", sealed_files.root_file(tmp_path, kind))
    assert "Verification: OK" in openssl(*verify, "-queryfile", query)
    assert "Verification: OK" in openssl(*verify, "-data", content)
    content.write_bytes(b"other content")
    assert "Verification: FAILED" in openssl(*verify, "-data", content)
    text = openssl("ts", "-reply", "-in", reply, "-text")
    assert POLICY_OID in text and "Accuracy: 0x01 seconds" in text and "Paraph Development Timestamp" in text


def test_the_certificate_comes_only_where_it_is_wanted(tmp_path: Path, authority: BuiltInAuthority) -> None:
    content, query = tmp_path / "content", tmp_path / "query"
    content.write_bytes(b"some content")
    openssl("ts", "-query", "-data", content, "-sha256", "-out", query)
    bare = authority.answer(query.read_bytes())
    openssl("ts", "-query", "-data", content, "-sha256", "-cert", "-out", query)
    assert len(authority.answer(query.read_bytes())) > len(bare) + 500


def test_serial_numbers_differ(authority: BuiltInAuthority) -> None:
    tokens = [tsp.TimeStampResp.load(authority.answer(request()))["time_stamp_token"] for _ in range(50)]
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
def test_refusals_say_why(
    tmp_path: Path, authority: BuiltInAuthority, request_: bytes | dict[str, object], failure: str, status: str
) -> None:
    encoded = request_ if isinstance(request_, bytes) else request(**request_)  # type: ignore[arg-type]
    reply = tmp_path / "reply"
    reply.write_bytes(authority.answer(encoded))
    told = openssl("ts", "-reply", "-in", reply, "-text")
    assert "Status: Rejected" in told and status in told
    assert failure in told


def test_a_key_for_anything_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="not one for timestamps alone"):
        BuiltInAuthority(development_authority(tmp_path, SECRET).sealing_key)


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
