"""``GET /sign/{token}/documents/{id}/pages/{number}.webp`` and ``{number}-print.webp``: a page as a picture."""

from contextlib import suppress
from functools import partial

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from paraph.documents import unshown_pages
from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.organizations.scope import party
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.render import render_page, render_printed_page
from paraph.signature_requests.models import Signer
from paraph.signature_requests.shown_pages import PageNotShownError
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer import answers
from paraph.signer.door import found
from paraph.signer.page import documents_of
from paraph.storage import store

_WIDEST = 1240.0  # pixels: sharp on a phone and beside the form on a desk
_FINEST = 2.0  # pixels per point


def page_image(
    request: HttpRequest, token: str, document_id: int, number: int, *, printed: bool = False
) -> HttpResponse:
    """WebP, for those who may sign now; drawn once and kept in storage beside the document. ``printed``: the page as it
    is printed, else as it is on the screen."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        signer = found(token)
        require_open(signer)
        picture = _picture(_document(signer, document_id, number), number, printed=printed)
    except DomainError as error:
        return answers.refusal(error)
    return answers.private(HttpResponse(picture, content_type="image/webp"))


def _document(signer: Signer, document_id: int, number: int) -> Document:
    for document in documents_of(signer):
        if document.pk == document_id and 1 <= number <= len(document.pages):
            return document
    raise DomainError("not_found", "There is no such page.")


def _picture(document: Document, number: int, *, printed: bool) -> bytes:
    name = f"{number}-print.webp" if printed else f"{number}.webp"
    key = f"pages/{document.shown_sha256.hex()}/{name}"
    try:
        return store.get(key)
    except FileNotFoundError:
        try:
            picture = _drawn(document, number, printed=printed)
        except PdfRefused as refused:
            if printed:  # what is signed is the page on the screen
                raise PageNotShownError(number, document.name, document.pk) from refused
            return _drawn_by_another(document, number, key, refused)
        with suppress(OSError):  # without room to keep it, it is drawn again
            store.put(key, picture)
        if not printed:
            unshown_pages.forget(document, number)
        return picture


def _drawn(document: Document, number: int, *, printed: bool) -> bytes:
    width, height = document.pages[number - 1]
    draw = render_printed_page if printed else render_page
    scale = min(_FINEST, _WIDEST / min(width, height))
    pdf = partial(store.get, document.shown_key)
    return draw(pdf, number, scale, party=party(document), sha256=document.shown_sha256)


def _drawn_by_another(document: Document, number: int, key: str, refused: PdfRefused) -> bytes:
    """The picture that another call has kept meanwhile. Raises PageNotShownError, which stands in the way of signatures
    until there is one: what is looked for only after it is remembered cannot be missed by both."""
    unshown_pages.remember(document, number)
    try:
        picture = store.get(key)
    except FileNotFoundError:
        raise PageNotShownError(number, document.name, document.pk) from refused
    unshown_pages.forget(document, number)
    return picture
