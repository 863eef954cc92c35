"""The log over HTTP is as C2SP tlog-tiles specifies it. An audit reads all of it and sees each alteration, and no
answer of a log uses up the auditor's machine."""

import base64
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.test import Client

from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.preserve import keep_log
from paraph.kernel.errors import DomainError
from paraph.transparency import log
from paraph.transparency.audit import Fetch, audit, fetching, offered_key
from paraph.transparency.merkle import ProofRefused, leaf_hash, root_of
from paraph.transparency.notes import LONGEST_NOTE, Checkpoint, Note, of_log, read_checkpoint, read_note, sign
from paraph.transparency.witnesses import own_key
from tests import receiver
from tests.independent import openssl
from tests.pdf.pdf_factory import flipped
from tests.receiver import Behaviour
from tests.transparency.rows import logged, proofs
from tests.transparency.test_witnesses import OTHER
from tests.transparency.test_witnesses import signed as signed_by_other

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


def get(path: str) -> Any:
    return Client().get(f"/transparency/{path}")


def fetch(path: str, most: int) -> bytes:
    answer = get(path)
    if answer.status_code != 200:
        raise ProofRefused(f"{path} cannot be had: HTTP status {answer.status_code}.")
    assert len(answer.content) <= most
    content: bytes = answer.content
    return content


def altered(place: str, change: Callable[[bytes], bytes]) -> Fetch:
    def other(path: str, most: int) -> bytes:
        content = fetch(path, most)
        return change(content) if path == place else content

    return other


def test_tiles_and_bundles_are_what_the_standard_says() -> None:
    digests = logged(300, 300)
    leaves = [leaf_hash(each) for each in digests]
    full = root_of(leaves[:256])
    assert get("tile/0/000").content == b"".join(leaves[:256])
    assert get("tile/0/002.p/88").content == b"".join(leaves[512:])
    assert get("tile/0/002.p/3").content == b"".join(leaves[512:515])
    assert get("tile/1/000.p/2").content == full + root_of(leaves[256:512])
    assert get("tile/entries/002.p/88").content == b"".join(b"\0\x20" + each for each in digests[512:])
    answer = get("tile/0/000")
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer["Content-Type"] == "application/octet-stream"
    newest = get("checkpoint")
    assert (newest["Content-Type"], newest["Cache-Control"]) == ("text/plain; charset=utf-8", "public, max-age=5")
    assert newest.content.decode().startswith("127.0.0.1:8000/transparency\n600\n")
    assert get("key").content.decode() == f"{own_key().log}\n"
    assert get("witness/key").content.decode() == f"{own_key().witness}\n"


def test_what_is_not_there_is_not_found() -> None:
    logged(600)
    for path in (
        *("0/002", "0/002.p/89", "0/003.p/1", "1/000", "1/000.p/3", "2/000.p/1", "0/0", "0/0000", "00/000", "64/000"),
        *("0/x000/000", "0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/", "0/-01", "entries/003", "data/000"),
        *("0/" + "x999/" * 40 + "999", "0/\u0660\u0660\u0660", "63/x999/x999/999", "entries/000/", "entries"),
    ):
        answer = get(f"tile/{path}")
        assert answer.status_code == 404 and answer["Cache-Control"] == "no-store", path


def test_nothing_is_shown_before_it_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("checkpoint", "checkpoint.tsr", "checkpoint.stamped", "tile/0/000.p/1", "tile/entries/000.p/1"):
        assert get(path).status_code == 404
    logged(2)
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(log, "witnessed", lambda *_: 1 / 0)
        logged(1)
    assert get("tile/0/000.p/2").status_code == 200
    assert get("tile/0/000.p/3").status_code == get("tile/entries/000.p/3").status_code == 404
    assert Client().post("/transparency/checkpoint").status_code == 405
    assert Client().head("/transparency/checkpoint").status_code == 200


def test_openssl_verifies_the_timestamp(tmp_path: Path) -> None:
    proofs(3)
    keep_log()
    proofs(1)
    keep_log()
    (tmp_path / "reply").write_bytes(get("checkpoint.tsr").content)
    (tmp_path / "checkpoint").write_bytes(get("checkpoint.stamped").content)
    roots = map(x509.load_der_x509_certificate, sealing_context().timestamping.roots)
    (tmp_path / "root.pem").write_bytes(b"".join(root.public_bytes(Encoding.PEM) for root in roots))
    words = ["ts", "-verify", "-in", "reply", "-data", "checkpoint", "-CAfile", "root.pem"]
    assert "Verification: OK" in openssl(*words, folder=tmp_path)


def test_an_audit_reads_all_and_finds_files() -> None:
    digests = logged(300)
    earlier = fetch("checkpoint", 10_000).decode()
    digests += logged(300)
    trusted = of_log(offered_key(fetch))
    checkpoint, found = audit(fetch, trusted, earlier, {digests[0], digests[599], b"x" * 32})
    assert (checkpoint.size, found) == (600, {digests[0]: 0, digests[599]: 599})
    assert audit(fetch, trusted, fetch("checkpoint", 10_000).decode()) == (checkpoint, {})


def signed(content: bytes, **change: Any) -> bytes:
    """Sign another checkpoint with the log's own key."""
    text = str(read_checkpoint(read_note(content.decode()))._replace(**change))
    return str(Note(text, (sign(text, own_key().log, own_key().private),))).encode()


ALTERED: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("checkpoint", lambda text: text.replace(b"\n600\n", b"\n599\n"), "signature of .* is wrong"),
    ("checkpoint", lambda text: signed(text, size=599), "cannot be had|do not lead to the root"),
    ("checkpoint", lambda text: signed(text, size=601), "cannot be had: HTTP status 404"),
    ("checkpoint", lambda text: signed(text, size=200), "forked or cut: it had 300 entries, and has 200 now"),
    ("checkpoint", lambda text: signed(text, root=b"r" * 32), "do not lead to the root that the log signed"),
    ("checkpoint", lambda _: b"\xff\xfe", "no signed note"),
    ("tile/entries/000", flipped, "tile 0/000 is not what the entries lead to"),
    ("tile/entries/000", lambda content: content[:-1], "too few"),
    ("tile/entries/000", lambda content: b"\0\x1f" + content[2:], "of another length"),
    ("tile/entries/000", lambda content: content[34:68] + content[:34] + content[68:], "tile 0/000 is not what"),
    ("tile/entries/002.p/88", flipped, r"tile 0/002\.p/88 is not what"),
    ("tile/entries/002.p/88", lambda _: b"", "too few"),
    ("tile/0/000", flipped, "tile 0/000 is not what"),
    ("tile/0/001", lambda content: content[:-32], "tile 0/001 is not what"),
    ("tile/0/002.p/88", lambda content: content + content[:32], r"tile 0/002\.p/88 is not what"),
    ("tile/1/000.p/2", flipped, r"tile 1/000\.p/2 is not what"),
    ("key", lambda text: text.replace(b"127", b"128"), "no verifier key"),
]


def test_an_altered_log_says_what_is_wrong() -> None:
    logged(300)
    earlier = fetch("checkpoint", 10_000).decode()
    logged(300)
    assert audit(fetch, of_log(offered_key(fetch)), earlier)[0].size == 600
    for place, change, sentence in ALTERED:
        other = altered(place, change)
        with pytest.raises(ProofRefused, match=sentence):
            audit(other, of_log(offered_key(other)), earlier)


def test_a_log_that_was_forked_and_signed_anew_is_seen() -> None:
    digests = logged(3)
    text = str(Checkpoint(own_key().log.name, 2, root_of([leaf_hash(each) for each in digests[1:]])))
    earlier = str(Note(text, (sign(text, own_key().log, own_key().private),)))
    with pytest.raises(ProofRefused, match="was forked: its first 2 entries"):
        audit(fetch, of_log(own_key().log), earlier)
    other = own_key().log._replace(public=base64.b64decode(b"A" * 43 + b"="))
    with pytest.raises(ProofRefused, match="is not signed by the key"):
        audit(fetch, of_log(other))


BOMB = gzip.compress(gzip.compress(bytes(64 << 20)))


HOSTILE: list[tuple[Behaviour, str]] = [
    (receiver.silent, "no complete answer within 0.5 s"),
    (receiver.trickle_body, "no complete answer within 0.5 s"),
    (receiver.trickle_headers, "no complete answer within 0.5 s"),
    (receiver.endless, "HTTP status 200, 65537 bytes or more"),
    (receiver.answer(200, bytes(LONGEST_NOTE + 1)), "HTTP status 200, 65537 bytes or more"),
    (receiver.answer(302, Location="http://127.0.0.1:22/"), "HTTP status 302"),
    (receiver.answer(206, b"x"), "HTTP status 206"),
    (receiver.not_http, "checkpoint cannot be had: .+"),
    (receiver.hang_up, "checkpoint cannot be had: .+"),
]


def test_what_a_log_answers_is_bounded_in_size_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.transparency.audit._SECONDS", 0.5)
    for behave, sentence in HOSTILE:
        with receiver.receiver(behave) as log, fetching(log.url(path="")) as fetch:
            with pytest.raises(ProofRefused, match=sentence):
                fetch("checkpoint", LONGEST_NOTE)
            assert log.sent < 64 << 20


def test_what_it_packs_is_not_unpacked() -> None:
    packed = receiver.answer(200, BOMB, **{"Content-Encoding": "gzip, gzip"})
    with receiver.receiver(packed) as log, fetching(log.url(path="")) as fetch:
        assert fetch("checkpoint", LONGEST_NOTE) == BOMB
        assert log.received[0].headers["Accept-Encoding"] == "identity"


def test_one_connection_takes_all() -> None:
    with receiver.receiver(receiver.answer(200, b"x"), keeps=True) as log:
        with fetching(log.url(path="")) as fetch:
            assert [fetch("checkpoint", 1) for _ in range(3)] == [b"x"] * 3
        assert log.connections == 1


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", ".", "a..b", "xn--a.invalid", "*.invalid"])
def test_a_host_that_cannot_be_is_told_of(host: str) -> None:
    with fetching(f"https://{host}/transparency") as fetch, pytest.raises(ProofRefused, match=r"key cannot be had: .+"):
        fetch("key", 1024)


@pytest.mark.parametrize("url", ["", "log", "file:///etc/passwd", "http://[::1", "https://\0x", "http://a.b:99999"])
def test_an_address_that_is_none_is_told_of(url: str) -> None:
    with pytest.raises(DomainError, match=r"The address of the log .+\."), fetching(url):
        pass


def test_a_log_larger_than_any_is_not_read() -> None:
    asked: list[str] = []

    def fetch(path: str, most: int) -> bytes:
        asked.append(path)
        assert path == "checkpoint" and most == LONGEST_NOTE
        return signed_by_other(Checkpoint(OTHER.name, 10**18 - 1, b"r" * 32)).encode()

    with pytest.raises(ProofRefused, match=r"has 999999999999999999 entries\. At most 100000000 are read"):
        audit(fetch, of_log(OTHER))
    assert asked == ["checkpoint"]
