"""``/app/{o}/drafts/{id}/signers/{signer}/stamp-{width}x{height}.svg``: a stamp as it will stand on the page, drawn by
what draws the sealed one. Its time and the number of its request are those of an example."""

from django.http import Http404, HttpRequest, HttpResponse

from paraph.dashboard.decorators import limits_stamps, member_page, scope
from paraph.drafts.models import Draft, DraftSigner
from paraph.drafts.signer_name import signer_name
from paraph.kernel import clock
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.signature_requests.values import HEIGHTS, WIDTHS
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped

_KEPT_SECONDS = 900


@member_page(Right.SEND)
@limits_stamps
def stamp_picture(_: HttpRequest, member: Member, draft_id: int, signer_id: int, **size: int) -> HttpResponse:
    """In whole points, which no eye tells from parts of them, so that browsers keep few pictures."""
    draft = scoped(Draft, scope(member)).filter(pk=draft_id).select_related("branding_profile").first()
    signer = DraftSigner.objects.filter(draft=draft, pk=signer_id).first() if draft else None
    if draft is None or signer is None or not _allowed(**size):
        raise Http404
    name = signer_name(signer, draft.locale)
    content = StampContent(
        size["width"],
        size["height"],
        name,
        clock.now(),
        request_id=draft.pk,
        locale=draft.locale,
        address=signer.email,
        signature_only=draft.branding_profile is not None and draft.branding_profile.signature_only,
    )
    response = HttpResponse(stamp_svg(content), content_type="image/svg+xml")
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


def _allowed(width: int, height: int) -> bool:
    return WIDTHS[0] <= width <= WIDTHS[1] and HEIGHTS[0] <= height <= HEIGHTS[1]
