"""``POST /sign/{token}/stamp``: the stamps as they will stand on the pages, as SVG, by what draws the sealed ones.

``GET …/stamp.svg?hand=2`` is the same for a typed name, for a page without scripts.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_request
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, initials_svg, stamp_svg
from paraph.signature_requests.marks import read_mark, typed
from paraph.signature_requests.models import RequestDocument, Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer import answers, language
from paraph.signer.authentication import found, posted
from paraph.signer.documents import in_reading_order
from paraph.signer.stamp_rate import count_stamp

_KEPT_SECONDS = 900
_MOST = 10  # different stamps of one preview; others look like the first


@gzip_page
@posted
def drawn_stamp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """Body: ``signature``, as in the signature's own body. Answer: ``svg``, the stamp at the first place; ``others``,
    each that differs from it in size; ``places``, which stands at each place, in the order of their numbers:
    0 for ``svg``, 1 for the first of the others, and so on."""
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
    return {"svg": stamps[0], "others": stamps[1:], "places": places}


@gzip_page
def typed_stamp(request: HttpRequest, token: str) -> HttpResponse:
    return _picture(request, token, _typed_stamp)


@gzip_page
def typed_initials(request: HttpRequest, token: str) -> HttpResponse:
    """``GET …/initials.svg``: typed initials as they stand on each page."""
    return _picture(request, token, _typed_initials)


def _picture(request: HttpRequest, token: str, draw: Callable[[HttpRequest, Signer], bytes]) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = None
    try:
        signer = found(token)
        require_open(signer)
        _require_stamps(signer)
        picture = draw(request, signer)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    response = answers.private(HttpResponse(picture, content_type="image/svg+xml"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


def _typed_stamp(request: HttpRequest, signer: Signer) -> bytes:
    mark = typed(request.GET.get("hand", ""))
    count_stamp(signer.pk)
    expensive_request()
    return _svg(request, signer, mark, _sizes(signer, _documents(signer)[0])[0])


def _typed_initials(request: HttpRequest, signer: Signer) -> bytes:  # noqa: ARG001  as the stamp
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
