"""From completed to finalized: what the job of each document does (specification 1, 2.2)."""

from paraph.flow.prove import prove
from paraph.flow.publish import publish
from paraph.flow.seal import seal


def finalize(request_document_id: int) -> None:
    """Seals the document; whoever finds that it was the last one goes on to the proof and to publication.

    One job for all of it: a job costs about as much as a seal. Safe to repeat and to run twice at once, because each
    step is; after a crash the same job goes on where it ended. Raises what the steps raise.
    """
    request_id = seal(request_document_id)
    if request_id is not None:
        prove(request_id)
        publish(request_id)
