"""Production proofs as rows of the database, any number in one statement, for a log that has to grow."""

import hashlib

from paraph.evidence.models import ProofFile
from paraph.signature_requests.models import SignatureRequest
from paraph.transparency import log
from paraph.transparency.models import Checkpoint
from tests.factories import nothing_shared, scene


def logged(*counts: int) -> list[bytes]:
    """For each count, make so many proofs and then a checkpoint; return all their digests."""
    digests: list[bytes] = []
    for count in counts:
        digests += proofs(count)
        log.log_proofs()
    return digests


def published() -> Checkpoint:
    """Return the newest published checkpoint, which must exist."""
    newest = log.published()
    assert newest
    return newest


def proofs(count: int, *, environment: str = "production", word: str = "proof") -> list[bytes]:
    """Make ``count`` proofs without files; return their digests."""
    first = scene(environment=environment, signers=0, documents=0).request
    columns = {"organization": first.organization, "application": first.application, "validity_days": 7}
    requests = [
        SignatureRequest(environment=environment, expires_at=first.expires_at, mode="parallel", **columns)
        for _ in range(count - 1)
    ]
    made = [first, *SignatureRequest.objects.bulk_create(requests)]
    shared, digests = nothing_shared(), [hashlib.sha256(f"{word} {row.pk}".encode()).digest() for row in made]
    log_index = None if environment == "production" else -1
    ProofFile.objects.bulk_create(
        ProofFile(
            request=row,
            object_key=f"proofs/{row.pk}.pdf",
            sha256=digest,
            file_size=1,
            seal={},
            shared=shared,
            log_index=log_index,
        )
        for row, digest in zip(made, digests, strict=True)
    )
    return digests
