"""``GET …/pages/{number}.webp``, ``{number}-{zoom}.webp`` and ``{number}-print.webp``: a page as a picture, and of
large ones the parts ``{number}-800-{part}.webp``."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from paraph.flow.signing.page_picture import page_part, page_picture
from paraph.kernel.errors import DomainError
from paraph.signer import answers, language
from paraph.signer.authentication import found, require_reader
from paraph.signer.documents import document_of

_KEPT_SECONDS = 900


def page_image(
    request: HttpRequest,
    token: str,
    document_id: int,
    number: int,
    zoom: int = 100,
    *,
    printed: bool = False,
    part: int | None = None,
) -> HttpResponse:
    """WebP, for those who may read the document. ``zoom`` and ``printed`` are those of :func:`page_picture`, ``part``
    that of :func:`page_part`."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = None
    try:
        signer = found(token)
        require_reader(signer)
        document = document_of(signer, document_id)
        if part is None:
            picture = page_picture(document, number, zoom, printed=printed)
        else:
            picture = page_part(document, number, part)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    response = answers.private(HttpResponse(picture, content_type="image/webp"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response
