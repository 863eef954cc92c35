"""``/app/{o}/drafts/{id}/review``: what each signer will get, the options, and "Send"."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from paraph import words
from paraph.dashboard.decorators import actor, scope, see_other
from paraph.dashboard.drafts.draft_page import draft_page, request_address, show_step
from paraph.dashboard.drafts.sheets import sheets
from paraph.dashboard.requests.actions import own_signing_page
from paraph.documents.refusals import named_pages
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftSigner, Json, Step
from paraph.drafts.refusals import Refusal, refusals, refusals_of
from paraph.flow.messages.emails import invitation_subject
from paraph.flow.sending.create import Sender
from paraph.flow.sending.drafts import send_draft
from paraph.kernel.errors import DomainError
from paraph.outbound.url import ascii_address
from paraph.server.client_address import origin
from paraph.signature_requests.models import LONGEST_MESSAGE, LONGEST_SUBJECT, Mode, Role
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.signature_requests.values import MOST_VALIDITY_DAYS
from paraph.tenants.limits import allowance, web_sends
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.organizations import UNNAMED
from paraph.tenants.rights import Right, may
from paraph.tenants.scope import branding_profiles

_LABELS = {
    "external_id": _("External ID"),
    "redirect_url": _("Once signed, signers can continue to"),
    "callback_url": _("Webhooks also go to"),
    "reminders": _("Automatic reminders"),
    "metadata": "",  # each key is a label
}


_SAID = ("title", "subject", "message", "locale")


class ProfileField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: BrandingProfile) -> str:
        return obj.name


class MessageField(forms.CharField):
    """A text of several lines, whose ends count as one character each, as they do for browsers."""

    widget = forms.Textarea(attrs={"rows": 6})

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class OptionsForm(forms.Form):
    """The options of the request that the plan allows, and what is said of it to signers."""

    title = forms.CharField(
        label=_("Title"),
        max_length=200,
        required=False,
        help_text=_("For your organization only; signers do not see it."),
    )
    subject = forms.CharField(
        label=_("Subject of the mail"),
        max_length=LONGEST_SUBJECT,
        required=False,
        help_text=_("Follows your organization's name. Leave it blank for the usual subject."),
    )
    message = MessageField(
        label=_("Message to signers"),
        max_length=LONGEST_MESSAGE,
        required=False,
        help_text=_(
            "In invitations and reminders only, as plain text without links; never in the documents or the proof."
        ),
    )
    locale = forms.ChoiceField(label=_("Language of mails and of the signing page"))
    validity_days = forms.IntegerField(label=_("Days to sign"), min_value=1, max_value=MOST_VALIDITY_DAYS)
    notify_signers_on_completion = forms.BooleanField(
        label=_("Send everyone a copy once all have signed"), required=False
    )
    initials_required = forms.BooleanField(label=_("Initials on each page"), required=False)
    branding_profile = ProfileField(
        BrandingProfile.objects.none(), label=_("Branding"), required=False, empty_label=_("Paraph colours")
    )
    decline_allowed = forms.BooleanField(
        label=_("Signers may decline"), required=False, help_text=_("With a reason; this ends the request.")
    )

    def __init__(self, entered: QueryDict | None = None, *, draft: Draft, member: Member) -> None:
        said = {name: getattr(draft, name) for name in _SAID}
        profile = draft.content.get("branding_profile_id")
        super().__init__(entered, initial={**draft.content, **said, "branding_profile": profile})
        allowed, profiles = allowance(member.organization.plan), branding_profiles(scope(member))
        locales, branding = self.fields["locale"], self.fields["branding_profile"]
        assert isinstance(locales, forms.ChoiceField) and isinstance(branding, forms.ModelChoiceField)
        locales.choices = [(code, words.language_name(code)) for code in words.LOCALES]
        branding.queryset = profiles.order_by("name")
        days = str(_("It must be 1 to %(most)s days.")) % {"most": MOST_VALIDITY_DAYS}
        self.fields["validity_days"].error_messages |= dict.fromkeys(("min_value", "max_value", "invalid"), days)
        if not allowed.initials:
            del self.fields["initials_required"]
        if not allowed.branding_profiles or not profiles.exists():
            del self.fields["branding_profile"]

    def save(self, draft: Draft) -> None:
        """Save what the form has, and nothing else of the draft."""
        self.apply(draft)
        draft.save(update_fields=[*_SAID, "content"])

    def apply(self, draft: Draft) -> None:
        for name, value in self.cleaned_data.items():
            if name in _SAID:
                setattr(draft, name, value)
            elif name == "branding_profile":
                draft.content["branding_profile_id"] = value.pk if value else None
            else:
                draft.content[name] = value


@draft_page(Step.REVIEW)
def review_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Save"; "Save as template", "Send" and "Send and sign", which save as well. "Discard",
    where an application prepared the draft, is of :func:`paraph.dashboard.drafts.listing.delete`."""
    if request.method != "POST":
        return _page(request, member, draft, OptionsForm(draft=draft, member=member))
    options = OptionsForm(request.POST, draft=draft, member=member)
    if not options.is_valid():
        return _page(request, member, draft, options, status=422)
    options.save(draft)
    editing.touch(draft)
    pressed = request.POST.get("action", "send")
    unconfirmed = [] if "accept_drawn_differently" in request.POST or pressed == "save" else _drawn_differently(draft)
    if unconfirmed:
        return _page(request, member, draft, options, refused=unconfirmed, status=422)
    if pressed not in {"send", "sign"}:
        return see_other("save_draft" if pressed == "template" else "draft_review", member.organization_id, draft.pk)
    return _send(request, member, draft, options, sign=pressed == "sign")


def _send(request: HttpRequest, member: Member, draft: Draft, options: OptionsForm, *, sign: bool) -> HttpResponse:
    try:
        sent = send_draft(scope(member), draft.pk, Sender(origin(request), actor(request, member)))
    except InvalidPayloadError as refused:
        return _page(
            request,
            member,
            draft,
            options,
            refused=refusals(scope(member), draft) or refusals_of(draft, refused),
            status=422,
        )
    except DomainError as refused:
        return _page(request, member, draft, options, refused=[Refusal(Step.REVIEW, refused.message)], status=422)
    page = own_signing_page(request, member, sent) if sign else ""
    return see_other(page or request_address(member, sent))


def _page(
    request: HttpRequest,
    member: Member,
    draft: Draft,
    options: OptionsForm,
    *,
    refused: list[Refusal] | None = None,
    status: int = 200,
) -> HttpResponse:
    found = refusals(scope(member), draft) if refused is None else refused
    content = {
        "options": options,
        "refusals": found,
        "signers": [_signer(member, draft, signer) for signer in draft.signers],
        "documents": draft.files(),
        "drawn_differently": _drawn_differently(draft),
        "unnamed": member.organization.name == UNNAMED,
        "may_rename": may(member.role, Right.RULE),
        "own_turn": _is_turn_of(member, draft),
        "quota": web_sends(member.organization_id, member.organization.plan),
        "set_by_program": list(_set_by_program(draft.content)),
    }
    return show_step(request, member, draft, Step.REVIEW, content, status=status)


def _drawn_differently(draft: Draft) -> list[Refusal]:
    """Return what the sender has to confirm: text that a second renderer draws otherwise than signers see it."""
    sentence = _(
        "Readers draw text of “%(name)s” differently, on: %(pages)s. Compare it in another reader, and confirm below "
        "that it is as it should be."
    )
    return [
        Refusal(Step.REVIEW, str(sentence) % {"name": document.name, "pages": named_pages(pages)})
        for document in draft.files()
        if (pages := document.preflight.get("text_drawn_differently"))
    ]


def _is_turn_of(member: Member, draft: Draft) -> bool:
    """Return whether the member may sign as soon as the request is sent."""
    turn = draft.signers[:1] if draft.content["mode"] == Mode.SEQUENTIAL else draft.signers
    return any(signer.email.casefold() == member.user.email.casefold() for signer in turn)


def _set_by_program(content: Json) -> Iterator[tuple[str, str, bool]]:
    """Yield, of all options that no step has a control for, what each is called, what it is, and whether the program
    has named it."""
    for name, label in ((name, label) for name, label in _LABELS.items() if name in content):
        each = content[name]
        if name == "metadata":
            yield from ((key, text, True) for key, text in each.items())
        elif name == "reminders":
            every, most = each["every_days"], each["at_most"]
            text = ngettext("Every day, at most %(most)s", "Every %(days)s days, at most %(most)s", every)
            yield str(label), text % {"days": every, "most": most}, False
        else:
            text = ascii_address(each) if name.endswith("_url") else str(each)
            yield str(label), text, False


def _signer(member: Member, draft: Draft, signer: DraftSigner) -> dict[str, Any]:
    return {
        "signer": signer,
        "name": signer.name(draft.locale),
        "subject": invitation_subject(
            draft.locale,
            member.organization.name,
            draft.subject,
            is_approver=signer.role == Role.APPROVER,
        ),
        "files": sheets(draft, signer),
    }
