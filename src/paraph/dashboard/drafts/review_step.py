"""``/app/{o}/drafts/{id}/review``: what each signer will get, the options, and "Send"."""

import re
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from paraph.dashboard.decorators import actor, scope, see_other
from paraph.dashboard.drafts.drafts import draft_page, show_step
from paraph.dashboard.drafts.options import OptionsForm
from paraph.dashboard.drafts.places_step import sheets
from paraph.dashboard.requests.actions import own_signing_page
from paraph.documents.refusals import named_pages
from paraph.drafts import editing
from paraph.drafts.models import Draft, Step
from paraph.drafts.review import Refusal, refusals, refusals_of
from paraph.flow.sending.create import Sender
from paraph.flow.sending.drafts import send_draft
from paraph.kernel.errors import DomainError
from paraph.outbound.url import ascii_address
from paraph.server.client_address import origin
from paraph.signature_requests.models import Mode
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.tenants.limits import web_sends
from paraph.tenants.members import Right, may
from paraph.tenants.models import Member
from paraph.tenants.organizations import UNNAMED

_CONFIRMED = "accept_drawn_differently"
_OF_SIGNER = re.compile(r"signers\[(\d+)\]\.(\w+)")
_ASKED_AS = {"reminders": "remind_every_days", "branding_profile_id": "branding_profile"}


@draft_page(Step.REVIEW)
def review_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Save"; "Save as template", "Send" and "Send and sign", which save as well. "Discard", where an
    application prepared the draft, leads to :func:`paraph.dashboard.drafts.drafts.delete`."""
    if request.method != "POST":
        return _page(request, member, draft, OptionsForm(draft=draft, member=member))
    options = OptionsForm(request.POST, draft=draft, member=member)
    if not options.is_valid():
        return _page(request, member, draft, options)
    options.save(draft)
    editing.touch(draft)
    pressed = request.POST.get("action", "send")
    unconfirmed = [] if _CONFIRMED in request.POST or pressed == "save" else _drawn_differently(draft)
    if unconfirmed:
        return _page(request, member, draft, options, unconfirmed)
    if "HX-Request" in request.headers:  # saved while it is being filled in
        return HttpResponse(status=204)
    if pressed not in {"send", "sign"}:
        return see_other("save_draft" if pressed == "template" else "draft_review", member.organization_id, draft.pk)
    return _send(request, member, draft, options, sign=pressed == "sign")


def _send(request: HttpRequest, member: Member, draft: Draft, options: OptionsForm, *, sign: bool) -> HttpResponse:
    try:
        sent = send_draft(scope(member), draft.pk, Sender(origin(request), actor(request, member)))
    except InvalidPayloadError as refused:
        found = refusals(scope(member), draft) or refusals_of(draft, refused)
        return _page(request, member, draft, options, found)
    except DomainError as refused:
        return _page(request, member, draft, options, [Refusal(Step.REVIEW, refused.message)])
    page = own_signing_page(request, member, sent) if sign else ""
    return see_other(page) if page else see_other("request", member.organization_id, sent)


def _page(
    request: HttpRequest, member: Member, draft: Draft, options: OptionsForm, refused: Sequence[Refusal] = ()
) -> HttpResponse:
    found = refused or refusals(scope(member), draft)
    wrong = [
        Refusal(Step.REVIEW, f"{field.label}: {problem}", field.name) for field in options for problem in field.errors
    ]
    content = {
        "options": options,
        "refusals": [(refusal, _where(refusal)) for refusal in [*wrong, *found]],
        "signers": [(signer, signer.name(draft.locale)) for signer in draft.signers],
        "files": sheets(draft, real=True),
        "drawn_differently": _drawn_differently(draft),
        "unnamed": member.organization.name == UNNAMED,
        "may_rename": may(member.role, Right.RULE),
        "own_turn": _is_turn_of(member, draft),
        "quota": web_sends(member.organization_id, member.organization.plan),
        "redirect_url": ascii_address(url) if (url := draft.content.get("redirect_url")) else "",
    }
    return show_step(request, member, draft, Step.REVIEW, content, status=422 if refused else 0)


def _drawn_differently(draft: Draft) -> list[Refusal]:
    """Return what the sender has to confirm: text that a second renderer draws differently from what signers see."""
    sentence = _(
        "PDF readers show text of “%(name)s” differently, on: %(pages)s. Compare it in another reader, then confirm "
        "below that it is right."
    )
    return [
        Refusal(Step.REVIEW, str(sentence) % {"name": document.name, "pages": named_pages(pages)}, _CONFIRMED)
        for document in draft.files()
        if (pages := document.preflight.get("text_drawn_differently"))
    ]


def _is_turn_of(member: Member, draft: Draft) -> bool:
    """Return whether the member may sign as soon as the request is sent."""
    turn = draft.signers[:1] if draft.content["mode"] == Mode.SEQUENTIAL else draft.signers
    return any(signer.email.casefold() == member.user.email.casefold() for signer in turn)


def _where(refusal: Refusal) -> str:
    """Return the address of what a refusal is about, from the page of its step; "" where there is no such thing."""
    if found := _OF_SIGNER.fullmatch(refusal.path):
        return f"#id_signer-{found[1]}-{found[2]}"
    name = refusal.path.partition(".")[0]
    return f"#id_{_ASKED_AS.get(name, name)}" if refusal.step == Step.REVIEW and name else ""
