"""Taking a request from completed to finalized: the job of each document (specification 1, 2.2)."""

from paraph.flow.sealing.prove import prove
from paraph.flow.sealing.publish import publish
from paraph.flow.sealing.seal import seal


def finalize(request_document_id: int) -> None:
    """Seals the document; after the last document of the request, issues the proof and publishes the request.

    One job does all of this, because a job costs about as much as a seal. Safe to repeat and to run twice at once, as
    each step is: after a crash the job continues where it ended. Raises what the steps raise.
    """
    request_id = seal(request_document_id)
    if request_id is not None:
        prove(request_id)
        publish(request_id)
