"""``GET …/pages/{number}.webp``, ``{number}-{zoom}.webp`` and ``{number}-print.webp``: a page as a picture."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from paraph.flow.page_picture import page_picture
from paraph.kernel.errors import DomainError
from paraph.signer import answers
from paraph.signer.documents import document_of
from paraph.signer.door import found
from paraph.signer.may_read import require_reader

_KEPT_SECONDS = 900


def page_image(
    request: HttpRequest, token: str, document_id: int, number: int, zoom: int = 100, *, printed: bool = False
) -> HttpResponse:
    """WebP, for those who may read the document. ``zoom`` and ``printed`` are those of :func:`page_picture`."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        signer = found(token)
        require_reader(signer)
        picture = page_picture(document_of(signer, document_id), number, zoom, printed=printed)
    except DomainError as error:
        return answers.refusal(error)
    response = answers.private(HttpResponse(picture, content_type="image/webp"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response
