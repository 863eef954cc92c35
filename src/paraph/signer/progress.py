"""``GET /sign/{token}/progress``: how far the request is that the signer has signed."""

from dataclasses import dataclass
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse

from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestStatus, Signer, SignerStatus
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import answers, language
from paraph.signer.authentication import found


@dataclass(frozen=True)
class Progress:
    """``waiting`` for ``others`` to sign, ``sealing``, or ``ready``: sealed files can be had. ``expired``: some did
    not sign in time, or one has ``declined``."""

    state: Literal["waiting", "sealing", "ready", "expired"]
    others: int
    declined: bool = False


def progress(signer: Signer) -> Progress:
    """Count, and name nobody: who else signs is not the signer's to know."""
    request = signer.request
    if request.finalized:
        return Progress("ready", 0)
    if request.status == RequestStatus.COMPLETED:
        return Progress("sealing", 0)
    others = request.signers.exclude(status=SignerStatus.SIGNED).count()
    if request.status == RequestStatus.EXPIRED:
        return Progress("expired", others, declined=request.declined_by_id is not None)
    return Progress("waiting", others)


def progress_view(request: HttpRequest, token: str) -> HttpResponse:
    """``{"progress": "waiting", "others": 1}``, for those who have signed; else 404."""
    signer = None
    try:
        if request.method not in ("GET", "HEAD"):
            raise translated("method_not_allowed", "method", allowed="GET", method=request.method)
        signer = found(token)
        if signer.status != SignerStatus.SIGNED:
            raise DomainError("not_found", "There is no progress before the signature.")
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    now = progress(signer)
    content: dict[str, Any] = {"progress": now.state, "others": now.others}
    if now.declined:
        content["declined"] = True
    return answers.answer(content)
