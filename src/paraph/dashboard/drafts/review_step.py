"""``/app/{o}/drafts/{id}/review``: what each signer will get, the options, and "Send"."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from paraph import words
from paraph.dashboard.decorators import actor, scope, see_other
from paraph.dashboard.drafts.draft_page import draft_page, request_address, show_step
from paraph.dashboard.drafts.sheets import sheets
from paraph.dashboard.requests.actions import own_signing_page
from paraph.documents.changeable import named_pages
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftSigner, Step
from paraph.drafts.payload import Refusal, refusals, refusals_of
from paraph.drafts.signer_name import signer_name
from paraph.flow.messages.emails import invitation_subject
from paraph.flow.sending.create import Sender
from paraph.flow.sending.send_from_web import send_draft
from paraph.kernel.errors import DomainError
from paraph.outbound.url import ascii_address
from paraph.server.client_address import origin
from paraph.signature_requests.models import LONGEST_MESSAGE, Mode, Role
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.signature_requests.values import MOST_VALIDITY_DAYS
from paraph.tenants.limits import allowance, web_sends
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.organizations import UNNAMED
from paraph.tenants.rights import Right, may
from paraph.tenants.scope import branding_profiles

_WITH_CONTROL = {"copies", "decline_allowed", "send_email", "identity_declaration_accepted"}
_LABELS = {
    "external_id": _("External ID"),
    "redirect_url": _("Once signed, signers can continue to"),
    "callback_url": _("Webhooks also go to"),
    "reminders": _("Automatic reminders"),
}


class ProfileField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: BrandingProfile) -> str:
        return obj.name


class MessageField(forms.CharField):
    """A text of several lines, whose ends count as one character each, as they do for browsers."""

    widget = forms.Textarea(attrs={"rows": 6})

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class OptionsForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes none where it runs
    """The options of the request that the plan allows."""

    locale = forms.ChoiceField(label=_("Language of mails and of the signing page"))
    branding_profile = ProfileField(
        BrandingProfile.objects.none(), label=_("Branding"), required=False, empty_label=_("Paraph colours")
    )
    message = MessageField(
        label=_("Message to signers"),
        max_length=LONGEST_MESSAGE,
        required=False,
        help_text=_(
            "In invitations and reminders only, as plain text without links; never in the documents or the proof."
        ),
    )
    decline_allowed = forms.BooleanField(
        label=_("Signers may decline"), required=False, help_text=_("With a reason; this ends the request.")
    )
    validity_days = forms.IntegerField(label=_("Days to sign"), min_value=1, max_value=MOST_VALIDITY_DAYS)

    class Meta:
        model = Draft
        fields = (
            "title",
            "subject",
            "message",
            "locale",
            "validity_days",
            "notify_signers_on_completion",
            "initials_required",
            "branding_profile",
        )
        labels = {
            "title": _("Title"),
            "subject": _("Subject of the mail"),
            "notify_signers_on_completion": _("Send everyone a copy once all have signed"),
            "initials_required": _("Initials on each page"),
        }
        help_texts = {
            "title": _("For your organization only; signers do not see it."),
            "subject": _("Follows your organization's name. Leave it blank for the usual subject."),
        }

    def __init__(self, *arguments: Any, member: Member, **more: Any) -> None:
        super().__init__(*arguments, **more)
        allowed, profiles = allowance(member.organization.plan), branding_profiles(scope(member))
        locales, branding = self.fields["locale"], self.fields["branding_profile"]
        assert isinstance(locales, forms.ChoiceField) and isinstance(branding, forms.ModelChoiceField)
        locales.choices = [(code, words.language_name(code)) for code in words.LOCALES]
        branding.queryset = profiles.order_by("name")
        days = str(_("It must be 1 to %(most)s days.")) % {"most": MOST_VALIDITY_DAYS}
        self.fields["validity_days"].error_messages |= dict.fromkeys(("min_value", "max_value", "invalid"), days)
        self.initial["decline_allowed"] = self.instance.more_options.get("decline_allowed", False)
        if not allowed.initials:
            del self.fields["initials_required"]
        if not allowed.branding_profiles or not profiles.exists():
            del self.fields["branding_profile"]

    def save(self, commit: bool = True) -> Draft:  # noqa: ARG002  Django's signature
        """Save what the form has, and nothing else of the draft."""
        draft: Draft = self.instance
        others = {name: each for name, each in draft.more_options.items() if name != "decline_allowed"}
        draft.more_options = others | ({"decline_allowed": True} if self.cleaned_data["decline_allowed"] else {})
        draft.save(update_fields=[*(name for name in self.Meta.fields if name in self.fields), "more_options"])
        return draft


@draft_page(Step.REVIEW)
def review_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Save"; "Save as template", "Send" and "Send and sign", which save as well. "Discard",
    where an application prepared the draft, is of :func:`paraph.dashboard.drafts.listing.delete`."""
    if request.method != "POST":
        return _page(request, member, draft, OptionsForm(instance=draft, member=member))
    options = OptionsForm(request.POST, instance=draft, member=member)
    if not options.is_valid():
        draft.refresh_from_db()
        return _page(request, member, draft, options, status=422)
    options.save()
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
        "signers": [_signer(member, draft, signer) for signer in draft.signers.all()],
        "documents": draft.documents.select_related("document"),
        "drawn_differently": _drawn_differently(draft),
        "unnamed": member.organization.name == UNNAMED,
        "may_rename": may(member.role, Right.RULE),
        "own_turn": _is_turn_of(member, draft),
        "quota": web_sends(member.organization_id, member.organization.plan),
        "set_by_program": list(_set_by_program(draft.more_options)),
    }
    return show_step(request, member, draft, Step.REVIEW, content, status=status)


def _drawn_differently(draft: Draft) -> list[Refusal]:
    """Return what the sender has to confirm: text that a second renderer draws otherwise than signers see it."""
    sentence = _(
        "Readers draw text of “%(name)s” differently, on: %(pages)s. Compare it in another reader, and confirm below "
        "that it is as it should be."
    )
    return [
        Refusal(Step.REVIEW, str(sentence) % {"name": row.document.name, "pages": named_pages(pages)})
        for row in draft.documents.select_related("document")
        if (pages := row.document.preflight.get("text_drawn_differently"))
    ]


def _is_turn_of(member: Member, draft: Draft) -> bool:
    """Return whether the member may sign as soon as the request is sent."""
    signers = list(draft.signers.all())
    turn = signers[:1] if draft.mode == Mode.SEQUENTIAL else signers
    return any(signer.email.casefold() == member.user.email.casefold() for signer in turn)


def _set_by_program(more: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield, of all options that no step has a control for, what each is called, what it is, and whether the program
    has named it."""
    for name in [*(name for name in _LABELS if name in more), *(more.keys() - _LABELS.keys() - _WITH_CONTROL)]:
        each = more[name]
        if name == "metadata":
            yield from ((key, text, True) for key, text in each.items())
        elif name == "reminders":
            every, most = each["every_days"], each["at_most"]
            text = ngettext("Every day, at most %(most)s", "Every %(days)s days, at most %(most)s", every)
            yield str(_LABELS[name]), text % {"days": every, "most": most}, False
        else:
            text = ascii_address(each) if name.endswith("_url") else str(each)
            yield str(_LABELS.get(name, name)), text, name not in _LABELS


def _signer(member: Member, draft: Draft, signer: DraftSigner) -> dict[str, Any]:
    return {
        "signer": signer,
        "name": signer_name(signer, draft.locale),
        "subject": invitation_subject(
            draft.locale,
            member.organization.name,
            draft.subject,
            is_approver=signer.role == Role.APPROVER,
        ),
        "files": sheets(draft, signer),
    }
