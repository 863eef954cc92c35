"""Pictures: the pages of documents (``GET …/pages/{number}.webp``, ``{number}-{zoom}.webp``, ``{number}-print.webp``,
and of large ones the parts ``{number}-800-{part}.webp``); the stamps as they will stand there, as SVG drawn as the
sealed ones are (``POST …/stamp``, and ``GET …/stamp.svg?hand=2`` for pages without scripts); and the logo."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.views.decorators.gzip import gzip_page
from pydantic import Field

from paraph.flow.signing.shown_documents import page_part, page_picture
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_request
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, initials_svg, stamp_svg
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import SignatureAlone, read_mark, typed
from paraph.signature_requests.models import RequestDocument, Signer
from paraph.signature_requests.signing import PageNotShownError, documents_of, require_open
from paraph.signer import language
from paraph.signer.answers import PageNotLoadedError
from paraph.signer.described import DRAWN, LANG, Answer, View, described, query
from paraph.signer.documents import document_of, in_reading_order
from paraph.signer.endpoints import KEPT_SECONDS, STAMPS, count, got, posted, require_reader
from paraph.tenants.branding import logo_picture

_MOST = 10  # different stamps of one preview; others look like the first


def _shows(place: str, name: str, summary: str, what: str, more: str = "") -> Callable[[View], View]:
    text = (
        f"{summary}.\n\nThe page {what}, for those who may read the document.{more} Browsers may keep it for 15 "
        "minutes.\n\nWhere the file itself is why there is no picture, the answer is 422, and a signature on that "
        "document is refused until the picture comes about: only what can be shown can be signed."
    )
    route = f"GET /documents/{{document_id}}/pages/{{number}}{place}.webp"
    return described(route, name, "A picture.", "image/webp", text=text)


@got(kept=KEPT_SECONDS, media="image/webp")
@_shows("", "showPage", "Show a page", "as it is on the screen")
@_shows("-{zoom}", "enlargePage", "Enlarge a page", "enlarged", " `zoom` is 150, 200 or 400 percent.")
@_shows(
    "-800-{part}",
    "enlargePagePart",
    "Enlarge a part of a large page",
    "in one of sixteen parts",
    " Of pages larger than A2 alone. `part` is 1 to 16, in lines from the top left; together they have four times the "
    "pixels of the largest picture.",
)
@_shows(
    "-print",
    "showPrintedPage",
    "Show a page as it prints",
    "as it is printed",
    " For pages that look different in print, which `preflight.prints_differently` names.",
)
def page_image(
    _request: HttpRequest,
    signer: Signer,
    document_id: int,
    number: int,
    zoom: int = 100,
    *,
    printed: bool = False,
    part: int | None = None,
) -> bytes:
    """``zoom`` and ``printed`` are those of :func:`page_picture`, ``part`` that of :func:`page_part`."""
    require_reader(signer)
    document = document_of(signer, document_id)
    return page_picture(document, number, zoom, printed=printed) if part is None else page_part(document, number, part)


def require_pictures(signer: Signer) -> None:
    """Make sure of a picture of each page, drawing it where nobody has looked at the page yet. Raise
    :class:`PageNotShownError` for a page that cannot be drawn, :class:`PageNotLoadedError` for one that cannot be had
    now. Where no script notices a missing picture, this does instead (docs/decisions/shown-is-sealed.md)."""
    for document in documents_of(signer):
        for number in range(1, len(document.pages) + 1):
            try:
                page_picture(document, number)
            except PageNotShownError:
                raise
            except (DomainError, OSError) as error:
                raise PageNotLoadedError(number, document.name) from error


class StampBody(SignatureAlone):
    example = ("A drawn signature", {"signature": DRAWN})


class Stamps(Answer):
    svg: str = Field(description="The stamp at the signer's first place, as SVG.")
    others: list[str] = Field(description="Each that differs from it in size.")
    places: list[int] = Field(
        description="For each place, in the order of their numbers: 0 for `svg`, 1 for the first of `others`, …"
    )
    example = ("The stamps", {"svg": "<svg …>…</svg>", "others": ["<svg …>…</svg>"], "places": [0, 1]})


@gzip_page
@posted
@described("POST /stamp", "drawStamp", "The stamp.", Stamps, body=StampBody)
def drawn_stamp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> Stamps:
    """Preview a stamp.

    Draws the stamp as it will stand on the page. After 60 in a minute: 429 with `Retry-After`.
    """
    _require_stamps(signer)
    mark = read_mark(body.get("signature"))
    count(STAMPS, signer)
    expensive_request()
    sizes = [size for document in _documents(signer) for size in _sizes(signer, document)]
    different = list(dict.fromkeys(sizes))[:_MOST]
    for _ in different[1:]:
        count(STAMPS, signer)
    stamps = [_svg(request, signer, mark, size).decode() for size in different]
    places = [different.index(size) if size in different else 0 for size in sizes]
    return Stamps(svg=stamps[0], others=stamps[1:], places=places)


@gzip_page
@got(kept=KEPT_SECONDS, media="image/svg+xml")
@described(
    "GET /stamp.svg",
    "drawTypedStamp",
    "The stamp.",
    "image/svg+xml",
    query=(query("hand", "In which of the four hands.", enum=["1", "2", "3", "4"], default="1"), LANG),
)
def typed_stamp(request: HttpRequest, signer: Signer) -> bytes:
    """Preview a typed stamp.

    The same for a typed name, as a picture to load. Browsers may keep it for 15 minutes.
    """
    _require_stamps(signer)
    mark = typed(request.GET.get("hand", ""))
    count(STAMPS, signer)
    expensive_request()
    return _svg(request, signer, mark, _sizes(signer, _documents(signer)[0])[0])


@gzip_page
@got(kept=KEPT_SECONDS, media="image/svg+xml")
@described("GET /initials.svg", "drawTypedInitials", "The initials.", "image/svg+xml")
def typed_initials(_request: HttpRequest, signer: Signer) -> bytes:
    """Preview typed initials.

    As they stand on each page, where the request wants initials; else 404. Browsers may keep it for 15 minutes.
    """
    _require_stamps(signer)
    if not signer.request.initials_required:
        raise DomainError("not_found", "The request wants no initials.")
    count(STAMPS, signer)
    return initials_svg(InitialsContent(signer.full_name, address=signer.email))


def _require_stamps(signer: Signer) -> None:
    require_open(signer)
    if signer.is_approver:
        raise DomainError("not_found", "An approver has no stamp.")


def _documents(signer: Signer) -> list[RequestDocument]:
    """Return the documents on which the signer has stamps, in their order."""
    with_stamps = signer.placements.values("request_document")
    return list(RequestDocument.objects.filter(pk__in=with_stamps).select_related("document").order_by("position"))


def _sizes(signer: Signer, row: RequestDocument) -> list[tuple[float, float]]:
    """Return the size of each stamp of the signer on a document, in the order of the places on its pages."""
    return [(at.width, at.height) for at in in_reading_order(row.placements.filter(signer=signer))]


def _svg(request: HttpRequest, signer: Signer, mark: dict[str, Any], size: tuple[float, float]) -> bytes:
    content = StampContent(
        width=size[0],
        height=size[1],
        signature_only=signer.request.signature_only,
        address=signer.email,
        name=signer.full_name,
        signed_at=clock.now(),
        request_id=signer.request_id,
        signature=mark,
        locale=language.choose(request, signer),
    )
    return stamp_svg(content)


@got(kept=86_400, media="image/png")  # another logo has another address
@described("GET /logo.png", "showLogo", "A picture.", "image/png")
def logo(_request: HttpRequest, signer: Signer) -> bytes:
    """Show the logo.

    The logo of the request's branding profile, at most 480 by 144 pixels, whatever the state of the request; 404
    without one. Browsers may keep it for a day.
    """
    picture = logo_picture(signer.request.branding_profile)
    if picture is None:
        raise translated("not_found", "link_unknown")
    return picture.png
