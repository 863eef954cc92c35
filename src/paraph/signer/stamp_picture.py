"""``POST /sign/{token}/stamp``: the stamp as it will stand on the page, as SVG, drawn by what draws the sealed one.

``GET …/stamp.svg?hand=2`` is the same for a typed name, for a page without scripts.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.signature_requests.models import Placement, Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signer import answers, language
from paraph.signer.door import found, posted
from paraph.signer.signature_body import read_mark, typed
from paraph.signer.stamp_rate import count_stamp

_KEPT_SECONDS = 900


@gzip_page
@posted
def drawn_stamp(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """Body: ``signature``, as in the signature's own body. Answer: ``svg``."""
    require_open(signer)
    return {"svg": _svg(request, signer, read_mark(body.get("signature"))).decode()}


@gzip_page
def typed_stamp(request: HttpRequest, token: str) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        signer = found(token)
        require_open(signer)
        picture = _svg(request, signer, typed(request.GET.get("hand", "")))
    except DomainError as error:
        return answers.refusal(error)
    response = answers.private(HttpResponse(picture, content_type="image/svg+xml"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


def _svg(request: HttpRequest, signer: Signer, mark: dict[str, Any]) -> bytes:
    count_stamp(signer.pk)
    place = Placement.objects.filter(signer=signer).order_by("request_document__position", "page_number", "pk")[0]
    content = StampContent(
        width=place.width,
        height=place.height,
        name=signer.full_name,
        signed_at=clock.now(),
        request_id=signer.request_id,
        signature=mark,
        locale=language.choose(request, signer),
    )
    return stamp_svg(content)
