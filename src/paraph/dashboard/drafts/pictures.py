"""Pictures of a draft, by what draws the sealed ones: of a stamp as it will stand on the page, and of the values of a
signer's fields on a page."""

from functools import partial
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from paraph.dashboard.decorators import limits_stamps, member_page, scope
from paraph.dashboard.documents import drawn
from paraph.drafts.models import Draft, DraftSigner, Placed
from paraph.kernel import clock
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, fields_picture
from paraph.signature_requests.fields.input import FieldInput
from paraph.signature_requests.placing import known_content
from paraph.signature_requests.values import HEIGHTS, WIDTHS, InvalidValueError
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped


@member_page(Right.SEND)
@limits_stamps
def stamp_picture(_: HttpRequest, member: Member, draft_id: int, signer_id: int, **size: int) -> HttpResponse:
    """``/app/{o}/drafts/{id}/signers/{signer}/stamp-{width}x{height}.svg``, with time and number of the request as an
    example. In whole points, which no eye tells from parts of them, so that browsers keep few pictures."""
    draft, signer = _found(member, draft_id, signer_id)
    width, height = size["width"], size["height"]
    if not (WIDTHS[0] <= width <= WIDTHS[1] and HEIGHTS[0] <= height <= HEIGHTS[1]):
        raise Http404
    profile = draft.content.get("branding_profile_id")
    content = StampContent(
        width,
        height,
        signer.name(draft.locale),
        clock.now(),
        request_id=draft.pk,
        locale=draft.locale,
        address=signer.email,
        signature_only=bool(profile) and BrandingProfile.objects.filter(pk=profile, signature_only=True).exists(),
    )
    return drawn(partial(stamp_svg, content), "image/svg+xml")


@member_page(Right.SEND)
@limits_stamps
def values_picture(_: HttpRequest, member: Member, draft_id: int, signer_id: int, **page: int) -> HttpResponse:
    """``/app/{o}/drafts/{id}/signers/{signer}/documents/{document}/values-{number}.svg``: what is known of the values,
    as they will stand there. Browsers do not keep the picture, which changes with each value."""
    draft, signer = _found(member, draft_id, signer_id)
    document = next((each for each in draft.files() if each.pk == page["document_id"]), None)
    if document is None or not 1 <= page["number"] <= len(document.pages):
        raise Http404
    width, height = document.pages[page["number"] - 1]
    here = (document, signer, page["number"])
    fields = [at for at in draft.places() if at.field and (at.document, at.signer, at.page_number) == here]
    places = [
        FieldPlace(at.x, height - at.y - at.height, content)
        for at in fields
        if (content := content_of(at, draft.locale)) is not None
    ]
    return HttpResponse(fields_picture(FieldsContent(width, height, places)), content_type="image/svg+xml")


def _found(member: Member, draft_id: int, signer_id: int) -> tuple[Draft, DraftSigner]:
    draft = get_object_or_404(scoped(Draft, scope(member)), pk=draft_id)
    signer = next((each for each in draft.signers if each.ref == str(signer_id)), None)
    if signer is None:
        raise Http404
    return draft, signer


class _Person(NamedTuple):
    full_name: str
    email: str
    signed_on: str


def content_of(at: Placed, locale: str) -> FieldContent | None:
    """Return what is drawn for the field, on the day of today; None where nothing is known yet, or what is known cannot
    be taken. ``locale``: of the draft."""
    signer = _Person(at.signer.name(locale), at.signer.email, clock.now().date().isoformat())
    try:
        content = known_content(FieldInput.model_construct(**at.field or {}), at.width, at.height, signer, locale)
    except InvalidValueError:
        return None
    return None if content is None or content.is_blank else content
