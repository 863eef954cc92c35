"""``GET /sign/{token}/progress``: how far the request is that the signer has signed."""

from typing import Literal

from django.http import HttpRequest
from pydantic import Field

from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestStatus, Signer, SignerStatus
from paraph.signer.described import ABSENT, Answer, described
from paraph.signer.endpoints import got


class Progress(Answer):
    progress: Literal["waiting", "sealing", "ready", "expired"] = Field(
        description="`waiting` for others to sign, `sealing`, or `ready`: the sealed files can be had. `expired`: "
        "others did not sign in time, or one has declined."
    )
    others: int = Field(description="How many others have yet to sign.")
    declined: bool = Field(ABSENT, description="`true`, with `expired`, where somebody has declined; else absent.")
    example = ("Somebody else still signs", {"progress": "waiting", "others": 1})


def progress(signer: Signer) -> Progress:
    """Count, and name nobody: who else signs is not the signer's to know."""
    request = signer.request
    if request.finalized:
        return Progress(progress="ready", others=0)
    if request.status == RequestStatus.COMPLETED:
        return Progress(progress="sealing", others=0)
    others = request.signers.exclude(status=SignerStatus.SIGNED).count()
    if request.status == RequestStatus.EXPIRED:
        declined = {} if request.declined_by_id is None else {"declined": True}
        return Progress(progress="expired", others=others, **declined)
    return Progress(progress="waiting", others=others)


@got()
@described("GET /progress", "readProgress", "The progress.", Progress)
def progress_view(_request: HttpRequest, signer: Signer) -> Progress:
    """Follow the progress.

    How far the request is, for those who have signed; else 404. A count and never a name: who else signs is not the
    signer's to know.
    """
    if signer.status != SignerStatus.SIGNED:
        raise DomainError("not_found", "There is no progress before the signature.")
    return progress(signer)
