"""Witnesses: asked to cosign this installation's checkpoints, and being one of other installations (C2SP
tlog-witness)."""

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import structlog
from django.conf import settings
from django.db import transaction

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import NetworkAccess, post
from paraph.transparency.merkle import EMPTY, ProofRefused, Read, check_consistency, consistency_proof
from paraph.transparency.models import Cosigned
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    VerifierKey,
    cosign,
    cosigned_at,
    is_signed,
    read_checkpoint,
    read_key,
    read_note,
    read_number,
    unbase64,
)
from paraph.transparency.own_key import own_key

_SECONDS, _TRIES = 5.0, 2
LARGEST_BODY = 64 * 1024
_log = structlog.get_logger("paraph.transparency")


class Answer(NamedTuple):
    status: int
    body: str
    media_type: str = "text/plain; charset=utf-8"


_Settings = tuple[dict[VerifierKey, str], list[VerifierKey]]


@lru_cache(maxsize=1)
def _read_settings(witnesses: tuple[str, ...], logs: tuple[str, ...]) -> _Settings:
    try:
        named = {read_key(key, WITNESS): url for key, _, url in (each.partition(" ") for each in witnesses)}
        if not all(url.startswith(("https://", "http://")) for url in named.values()):
            raise ProofRefused("A witness is named as VKEY https://….")
        return named, [read_key(each, LOG) for each in logs]
    except ProofRefused as refused:
        sentence = f"PARAPH_WITNESSES or PARAPH_WITNESS_FOR: {refused}"
        raise DomainError("configuration", sentence) from refused


def witness_settings() -> _Settings:
    """Return the witnesses with their addresses, and the logs that this installation is a witness of. Raise
    ``DomainError("configuration", …)``."""
    return _read_settings(tuple(settings.PARAPH.witnesses), tuple(settings.PARAPH.witness_for))


def missing(note: Note) -> list[VerifierKey]:
    """Return the witnesses that have not cosigned."""
    return [key for key in witness_settings()[0] if cosigned_at(note, key) is None]


def witnessed(text: str, cosigned: int, read: Read) -> str:
    """Return the checkpoint with the cosignatures of the witnesses that give one. ``cosigned``: the size that they have
    likely cosigned before."""
    note = read_note(text)
    for key in missing(note):
        try:
            note = _asked(key, witness_settings()[0][key], note, cosigned, read)
        except ProofRefused as refused:
            _log.warning("a witness does not cosign", witness=key.name, reason=str(refused))
    return str(note)


def _asked(key: VerifierKey, url: str, note: Note, old: int, read: Read) -> Note:
    size = read_checkpoint(note).size
    network = NetworkAccess(settings.PARAPH.private_addresses_allowed, settings.PARAPH.outbound_proxy)
    for _ in range(_TRIES):
        proof = [base64.b64encode(each).decode() for each in consistency_proof(old, size, read)]
        body = "\n".join([f"old {old}", *proof, "", str(note)]).encode()
        address = f"{url.rstrip('/')}/add-checkpoint"
        answer = asyncio.run(post(address, body, {"Content-Type": "text/plain"}, network, seconds=_SECONDS))
        text = answer.body.decode(errors="replace")
        if answer.status == 200:
            more = read_note(f"{note.text}\n{text}").signatures
            found = note._replace(signatures=(*note.signatures, *(each for each in more if each.id == key.id)))
            if cosigned_at(found, key) is None:
                raise ProofRefused("Its answer has no cosignature of its key.")
            return found
        if answer.status != 409:
            raise ProofRefused(answer.error or f"It answered with HTTP status {answer.status}: {text[:200]}")
        old = read_number(text.removesuffix("\n"), "The size that it has")
        if old > size:
            break
    raise ProofRefused(f"It has cosigned {old} entries of this log, which are not those of {size}.")


class _Refused(ValueError):
    def __init__(self, status: int, body: str, *media_type: str) -> None:
        super().__init__(body)
        self.answer = Answer(status, f"{body}\n", *media_type)


def add_checkpoint(body: bytes) -> Answer:
    """Answer a log that asks for a cosignature. What is cosigned extends what was cosigned before, and is remembered
    before the answer."""
    try:
        old, proof, note = _read_request(body)
        checkpoint = _signed_by_known(note)
        if old > checkpoint.size:
            raise _Refused(400, "The old size is larger than the checkpoint's.")
        own = own_key()
        _remember(checkpoint, old, proof)
    except _Refused as refused:
        return refused.answer
    except (ProofRefused, UnicodeDecodeError) as refused:
        return Answer(400, f"{refused}\n")
    return Answer(200, str(cosign(note.text, own.witness, own.private, int(clock.now().timestamp()))))


def _signed_by_known(note: Note) -> Checkpoint:
    checkpoint = read_checkpoint(note)
    known = [key for key in witness_settings()[1] if key.name == checkpoint.origin]
    if not known:
        raise _Refused(404, "This log is not witnessed here.")
    with suppress(ProofRefused):
        if any(is_signed(note, key) for key in known):
            return checkpoint
    raise _Refused(403, "The checkpoint is not signed by the log's key.")


@transaction.atomic
def _remember(checkpoint: Checkpoint, old: int, proof: Sequence[bytes]) -> None:
    Cosigned.objects.get_or_create(origin=checkpoint.origin, defaults={"size": 0, "root": EMPTY})
    row = Cosigned.objects.select_for_update().get(pk=checkpoint.origin)
    if old != row.size or (checkpoint.size == row.size and checkpoint.root != bytes(row.root)):
        raise _Refused(409, str(row.size), "text/x.tlog.size")
    try:
        check_consistency(old, bytes(row.root), checkpoint.size, checkpoint.root, proof)
    except ProofRefused as refused:
        raise _Refused(422, str(refused)) from refused
    row.size, row.root = checkpoint.size, checkpoint.root
    row.save()


def _read_request(body: bytes) -> tuple[int, list[bytes], Note]:
    head, found, text = body.decode().partition("\n\n")
    first, *lines = head.split("\n")
    proof = [unbase64(line) for line in lines]
    if not found or not first.startswith("old ") or len(proof) > 63 or {*map(len, proof)} - {32}:
        raise ProofRefused("The body must have the old size, at most 63 hashes, an empty line and a checkpoint.")
    return read_number(first.removeprefix("old "), "The old size"), proof, read_note(text)
