"""Witnesses that cosign this installation's checkpoints, this installation as a witness of others (C2SP tlog-witness),
and the key that signs its own checkpoints and cosigns those of others."""

import asyncio
import base64
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings
from django.db import transaction

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import NetworkAccess, post
from paraph.transparency.merkle import EMPTY, ProofRefused, Read, check_consistency, consistency_proof
from paraph.transparency.models import Cosigned, LogKey
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    VerifierKey,
    cosign,
    opened_checkpoint,
    read_checkpoint,
    read_hashes,
    read_key,
    read_note,
    read_number,
    signatures_by,
)

PURPOSE, _ONLY = "log-key", 1


class OwnKey(NamedTuple):
    """``log`` and ``witness`` are the public key as verifiers of checkpoints and of cosignatures know it."""

    private: Ed25519PrivateKey
    log: VerifierKey
    witness: VerifierKey


def own_key() -> OwnKey:
    """Return the key, made at the first call. All machines of the installation have the same one, since it lies in the
    database. Raise ``DomainError("configuration", …)`` where it cannot be used."""
    row, file = LogKey.objects.filter(pk=_ONLY).first() or _first(), settings.PARAPH.log_key
    try:
        if file:
            private = load_pem_private_key(file.read_bytes(), None)
        else:
            secret = settings.SECRETS.decrypt(PURPOSE, bytes(row.private_encrypted or b""))
            private = Ed25519PrivateKey.from_private_bytes(secret)
        if not isinstance(private, Ed25519PrivateKey):
            raise TypeError("it is none for Ed25519")
    except (OSError, ValueError, TypeError) as error:
        place = f"PARAPH_LOG_KEY: {file}" if file else "The key in the database"
        sentence = f"{place} cannot sign the transparency log: {error}. The log has its first key for good."
        raise DomainError("configuration", sentence) from error
    public = private.public_key().public_bytes_raw()
    return OwnKey(private, VerifierKey(row.origin, LOG, public), VerifierKey(row.origin, WITNESS, public))


def _first() -> LogKey:
    encrypted = None
    if settings.PARAPH.log_key is None:
        encrypted = settings.SECRETS.encrypt(PURPOSE, Ed25519PrivateKey.generate().private_bytes_raw())
    origin = f"{urlsplit(settings.PARAPH.public_url).netloc}/transparency"
    return LogKey.objects.get_or_create(pk=_ONLY, defaults={"origin": origin, "private_encrypted": encrypted})[0]


_SECONDS, _TRIES, _PLAIN = 5.0, 2, {"Content-Type": "text/plain"}
LARGEST_BODY = 64 * 1024
_log = structlog.get_logger("paraph.transparency")


def witness_settings() -> tuple[dict[VerifierKey, str], list[VerifierKey]]:
    """Return the witnesses with their addresses, and the logs that this installation is a witness of. Raise
    ``DomainError("configuration", …)``."""
    named = (each.partition(" ") for each in settings.PARAPH.witnesses)
    try:
        witnesses = {read_key(key, WITNESS): url for key, _, url in named}
        if not all(url.startswith(("https://", "http://")) for url in witnesses.values()):
            raise ProofRefused("A witness is named as VKEY https://….")
        return witnesses, [read_key(each, LOG) for each in settings.PARAPH.witness_for]
    except ProofRefused as refused:
        raise DomainError("configuration", f"PARAPH_WITNESSES or PARAPH_WITNESS_FOR: {refused}") from refused


def missing(note: Note) -> list[VerifierKey]:
    """Return the witnesses that have not cosigned."""
    return [key for key in witness_settings()[0] if not signatures_by(note, key)]


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
        answer = asyncio.run(post(f"{url.rstrip('/')}/add-checkpoint", body, _PLAIN, network, seconds=_SECONDS))
        text = answer.body.decode(errors="replace")
        if answer.status == 200:
            lines = text[: text.rfind("\n") + 1]  # the last one may be cut off
            own = signatures_by(read_note(f"{note.text}\n{lines}"), key)
            if not own:
                raise ProofRefused("Its answer has no cosignature of its key.")
            return note._replace(signatures=(*note.signatures, own[0]))
        if answer.status != 409:
            raise ProofRefused(answer.error or f"It answered with HTTP status {answer.status}: {text[:200]}")
        old = read_number(text.removesuffix("\n"), "The size that it has")
        if old > size:
            break
    raise ProofRefused(f"It has cosigned {old} entries of this log, which are not those of {size}.")


def add_checkpoint(body: bytes) -> tuple[int, str]:
    """Answer a log that asks for a cosignature: an HTTP status and a body. A checkpoint that is cosigned extends
    the one before, and is remembered before the answer."""
    try:
        head, _, text = body.decode().partition("\n\n")
        first, *lines = head.split("\n")
        old, proof = read_number(first.removeprefix("old "), "The old size"), read_hashes(lines)
        note = read_note(text)
        checkpoint = read_checkpoint(note)
        if not first.startswith("old ") or old > checkpoint.size:
            raise ProofRefused("The body must begin with an old size that is none beyond the checkpoint's.")
    except (ProofRefused, UnicodeDecodeError) as refused:
        return 400, f"{refused}\n"
    known = [key for key in witness_settings()[1] if key.name == checkpoint.origin]
    if not known:
        return 404, "This log is not witnessed here.\n"
    try:
        opened_checkpoint(text, known)
    except ProofRefused as refused:
        return 403, f"{refused}\n"
    return _remembered(note, checkpoint, old, proof)


@transaction.atomic
def _remembered(note: Note, checkpoint: Checkpoint, old: int, proof: Sequence[bytes]) -> tuple[int, str]:
    Cosigned.objects.get_or_create(origin=checkpoint.origin, defaults={"size": 0, "root": EMPTY})
    row = Cosigned.objects.select_for_update().get(pk=checkpoint.origin)
    if old != row.size or (checkpoint.size == row.size and checkpoint.root != bytes(row.root)):
        return 409, f"{row.size}\n"
    try:
        check_consistency(old, bytes(row.root), checkpoint.size, checkpoint.root, proof)
    except ProofRefused as refused:
        return 422, f"{refused}\n"
    row.size, row.root = checkpoint.size, checkpoint.root
    row.save()
    own, moment = own_key(), int(clock.now().timestamp())
    return 200, str(cosign(note.text, own.witness, own.private, moment))
