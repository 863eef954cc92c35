"""``GET …/pages/{number}.webp``, ``{number}-{zoom}.webp`` and ``{number}-print.webp``: a page as a picture, and of
large ones the parts ``{number}-800-{part}.webp``."""

from collections.abc import Callable

from django.http import HttpRequest

from paraph.flow.signing.shown_documents import page_part, page_picture
from paraph.signature_requests.models import Signer
from paraph.signer.authentication import KEPT_SECONDS, got, require_reader
from paraph.signer.described import View, described
from paraph.signer.documents import document_of


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
