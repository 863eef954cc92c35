"""Witnesses cosign only a checkpoint that extends the one that they cosigned before (C2SP tlog-witness)."""

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client

from paraph.operations.check.sealing import transparency_log
from paraph.transparency import log
from paraph.transparency.merkle import consistency_proof, leaf_hash, root_of, tree_hash
from paraph.transparency.models import Cosigned
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    Policy,
    VerifierKey,
    cosign,
    read_checkpoint,
    read_note,
    sign,
    signatures_by,
)
from paraph.transparency.witnesses import own_key
from tests.cli.service import free_port
from tests.receiver import answer, receiver
from tests.threads import beside_each_other
from tests.transparency.rows import logged, proofs, published
from tests.transparency.test_merkle import LEAVES, READ

pytestmark = pytest.mark.usefixtures("data_dir")

Configure = Callable[..., None]
PRIVATE = Ed25519PrivateKey.from_private_bytes(b"l" * 32)
OTHER = VerifierKey("log.example.com/transparency", LOG, PRIVATE.public_key().public_bytes_raw())


@pytest.fixture
def witness(configured: Configure, db: None) -> None:
    configured(witness_for=[str(OTHER)])


def checkpoint(size: int, leaves: Sequence[bytes] = LEAVES, **change: Any) -> str:
    return signed(Checkpoint(OTHER.name, size, root_of(leaves[:size]))._replace(**change))


def signed(checkpoint: Checkpoint) -> str:
    return str(Note(str(checkpoint), (sign(str(checkpoint), OTHER, PRIVATE),)))


def asked(old: int | str, size: int, note: str = "", proof: Sequence[bytes] | None = None) -> Any:
    path = consistency_proof(int(old), size, READ) if proof is None else proof
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in path), "", note or checkpoint(size)]
    return sent("\n".join(lines).encode())


def sent(body: bytes) -> Any:
    return Client().post("/transparency/witness/add-checkpoint", body, content_type="text/plain")


def known() -> list[tuple[int, bytes]]:
    return [(row.size, bytes(row.root)) for row in Cosigned.objects.all()]


@pytest.mark.usefixtures("witness")
def test_a_log_that_grows_is_cosigned() -> None:
    for old, size in ((0, 0), (0, 3), (3, 3), (3, 300), (300, 1000)):
        answer = asked(old, size)
        assert answer.status_code == 200
        note = read_note(checkpoint(size) + answer.content.decode())
        assert signatures_by(note, own_key().witness)
        assert known() == [(size, tree_hash(0, size, READ))]


FORK = [leaf_hash(b"fork"), *LEAVES[1:]]


REFUSED: list[tuple[int, int | str, int, dict[str, Any]]] = [
    (409, 0, 400, {}),
    (409, 299, 400, {"proof": []}),
    (409, 300, 300, {"note": checkpoint(300, FORK)}),
    (400, 400, 300, {"proof": []}),
    (422, 300, 400, {"note": checkpoint(400, FORK)}),
    (422, 300, 400, {"proof": []}),
    (422, 300, 400, {"proof": [b"x" * 32]}),
    (422, 300, 300, {"proof": [b"x" * 32]}),
    (404, 300, 400, {"note": checkpoint(400, origin="unknown.example.com")}),
    (403, 300, 400, {"note": checkpoint(400).replace("\n400\n", "\n401\n")}),
    (403, 300, 400, {"note": checkpoint(400).replace(f"\u2014 {OTHER.name}", "\u2014 other")}),
    (400, "0300", 400, {"proof": []}),
    (400, "-1", 400, {"proof": []}),
    (400, 300, 400, {"proof": [b"x" * 31]}),
    (400, 300, 400, {"proof": [b"x" * 32] * 64}),
    (400, 300, 400, {"note": "no note"}),
    (400, 300, 400, {"note": signed(Checkpoint(OTHER.name, 2**63, b"r" * 32))}),
]


@pytest.mark.usefixtures("witness")
def test_what_does_not_extend_it_is_not_cosigned() -> None:
    assert asked(0, 300).status_code == 200
    before = known()
    for status, old, size, change in REFUSED:
        answer = asked(old, size, **change)
        assert answer.status_code == status and b"\xe2\x80\x94" not in answer.content, (old, size, change)
        if status == 409:
            assert (answer.content, answer["Content-Type"]) == (b"300\n", "text/x.tlog.size")
        assert known() == before


@pytest.mark.usefixtures("witness")
def test_what_is_no_request_is_refused() -> None:
    for body in (b"", b"\xff", b"old 0", b"old 0\n\n", b"new 0\n\n" + checkpoint(1).encode(), b"old 0\n!\n\nx"):
        assert sent(body).status_code == 400
    assert sent(b"x" * 70_000).status_code == 400
    assert Client().get("/transparency/witness/add-checkpoint").status_code == 405
    assert known() == []


@pytest.mark.django_db(transaction=True)
def test_of_two_forks_at_once_one_is_cosigned(configured: Configure) -> None:
    configured(witness_for=[str(OTHER)])
    own_key()
    forks = [checkpoint(300, [leaf_hash(b"fork %d" % number), *LEAVES[1:]]) for number in range(8)]
    for old, size in ((0, 300), (300, 300)):
        told = [each.status_code for each in beside_each_other(*(partial(asked, old, size, note) for note in forks))]
        assert sorted(told) == [200, *[409] * 7]
        assert len(known()) == 1
    assert Checkpoint(OTHER.name, *known()[0]) == read_checkpoint(read_note(forks[told.index(200)]))


@pytest.mark.django_db
def test_nobody_is_cosigned_where_no_log_is_named() -> None:
    assert asked(0, 3).status_code == 404


def watched(configured: Configure, url: str) -> Policy:
    own = own_key()
    witnesses = [f"{own.witness} {url}/transparency/witness"]
    configured(witnesses=witnesses, witness_for=[str(own.log)], allow_private_addresses=True)
    return Policy([own.log], {"w": own.witness}, {}, "w")


@pytest.mark.django_db(transaction=True)
def test_a_log_asks_its_witness_over_http(configured: Configure, live_server: Any) -> None:
    """Here an installation is its own witness; a witness does the same for any log."""
    policy = watched(configured, live_server.url)
    for count in (3, 1, 300):
        proofs(count)
        log.log_proofs()
        newest = published()
        policy.check(read_note(newest.note))
    assert known()[0][0] == 304
    assert transparency_log().status.value == "ok"
    Cosigned.objects.update(size=2)  # a witness that is behind says so, and gets the proof from where it is
    Cosigned.objects.update(root=tree_hash(0, 2, log.read))
    logged(1)
    assert known()[0][0] == 305


@pytest.mark.django_db(transaction=True)
def test_a_witness_that_is_away_holds_up_nothing_and_is_asked_again(configured: Configure, live_server: Any) -> None:
    policy = watched(configured, f"http://127.0.0.1:{free_port()}")
    logged(3)
    newest = published()
    assert len(read_note(newest.note).signatures) == 1
    outcome = transparency_log()
    assert outcome.status.value == "warning" and f"not cosigned by {own_key().log.name}" in outcome.sentence
    bare = newest.note
    watched(configured, live_server.url)
    log.log_proofs()
    newest = published()
    policy.check(read_note(newest.note))
    assert log.without_witnesses(newest).decode() == bare != newest.note


@pytest.mark.django_db
def test_of_a_witness_its_own_cosignature_alone_is_kept(configured: Configure) -> None:
    own, junk = own_key(), "\u2014 other.example.com " + "A" * 96 + "\n"

    def behave(handler: Any) -> None:
        _, note = handler.server.received[-1].body.decode().split("\n\n", 1)
        lines = [cosign(read_note(note).text, own.witness, own.private, moment) for moment in (1767000000, 1767000001)]
        answer(200, (junk * 5 + "".join(map(str, lines)) + junk * 50).encode())(handler)

    with receiver(behave) as witness:
        policy = watched(configured, witness.url(path=""))
        logged(1)
    newest = published()
    note = read_note(newest.note)
    policy.check(note)
    assert len(note.signatures) == 2


@pytest.mark.django_db(transaction=True)
def test_a_witness_that_saw_another_log_does_not_cosign(configured: Configure, live_server: Any) -> None:
    watched(configured, live_server.url)
    proofs(3)
    Cosigned.objects.create(origin=own_key().log.name, size=2, root=b"f" * 32)
    log.log_proofs()
    newest = published()
    assert len(read_note(newest.note).signatures) == 1 and known() == [(2, b"f" * 32)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "named",
    [
        {"witnesses": ["x"]},
        {"witnesses": [str(VerifierKey("w", WITNESS, b"k" * 32))]},
        {"witnesses": [f"{VerifierKey('w', LOG, b'k' * 32)} https://w.example.com"]},
        {"witness_for": [str(VerifierKey("w", WITNESS, b"k" * 32))]},
    ],
)
def test_settings_that_name_no_witness_are_told_of(configured: Configure, named: dict[str, list[str]]) -> None:
    configured(**named)
    outcome = transparency_log()
    assert outcome.status.value == "failed" and "PARAPH_WITNESS" in outcome.sentence
