"""``POST /sign/{token}/stamp``: the stamps as they will stand on the pages, as SVG, by what draws the sealed ones.

``GET …/stamp.svg?hand=2`` is the same for a typed name, for a page without scripts.
"""

from typing import Any

from django.http import HttpRequest
from django.views.decorators.gzip import gzip_page
from pydantic import Field

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_request
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, initials_svg, stamp_svg
from paraph.signature_requests.marks import SignatureAlone, read_mark, typed
from paraph.signature_requests.models import RequestDocument, Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer import language
from paraph.signer.authentication import KEPT_SECONDS, got, posted
from paraph.signer.described import DRAWN, LANG, Answer, described, query
from paraph.signer.documents import in_reading_order
from paraph.signer.stamp_rate import count_stamp

_MOST = 10  # different stamps of one preview; others look like the first


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
    require_open(signer)
    _require_stamps(signer)
    mark = read_mark(body.get("signature"))
    count_stamp(signer.pk)
    expensive_request()
    sizes = [size for document in _documents(signer) for size in _sizes(signer, document)]
    different = list(dict.fromkeys(sizes))[:_MOST]
    for _ in different[1:]:
        count_stamp(signer.pk)
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
    require_open(signer)
    _require_stamps(signer)
    mark = typed(request.GET.get("hand", ""))
    count_stamp(signer.pk)
    expensive_request()
    return _svg(request, signer, mark, _sizes(signer, _documents(signer)[0])[0])


@gzip_page
@got(kept=KEPT_SECONDS, media="image/svg+xml")
@described("GET /initials.svg", "drawTypedInitials", "The initials.", "image/svg+xml")
def typed_initials(_request: HttpRequest, signer: Signer) -> bytes:
    """Preview typed initials.

    As they stand on each page, where the request wants initials; else 404. Browsers may keep it for 15 minutes.
    """
    require_open(signer)
    _require_stamps(signer)
    if not signer.request.initials_required:
        raise DomainError("not_found", "The request wants no initials.")
    count_stamp(signer.pk)
    return initials_svg(InitialsContent(signer.full_name, address=signer.email))


def _require_stamps(signer: Signer) -> None:
    if signer.is_approver:
        raise DomainError("not_found", "An approver has no stamp.")


def _documents(signer: Signer) -> list[RequestDocument]:
    """Return the documents on which the signer has stamps, in their order."""
    with_stamps = signer.placements.values("request_document")
    rows = RequestDocument.objects.filter(pk__in=with_stamps).select_related("document")
    return sorted(rows, key=lambda row: row.position)


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
