"""The options of a request as forms ask for them: on Review, and in Settings those that new requests begin with."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from django import forms
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from paraph import words
from paraph.dashboard.decorators import scope
from paraph.drafts.models import Draft, Json
from paraph.flow.messages.emails import invitation_subject
from paraph.outbound.url import ascii_address
from paraph.signature_requests import values
from paraph.signature_requests.input import MOST_DAYS_BETWEEN, MOST_REMINDERS
from paraph.signature_requests.models import LONGEST_MESSAGE, LONGEST_SUBJECT, Role
from paraph.tenants.limits import allowance
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.scope import branding_profiles

LANGUAGES = [(code, words.language_name(code)) for code in words.LOCALES]
_Read = TypeVar("_Read")
_SAID = ("title", "subject", "message", "locale")  # beside the content
_INVITING = ("subject", "message", "remind_every_days", "reminders_at_most")  # left out where nobody is invited
_USUAL_REMINDERS = 3
_MOST = {"validity_days": values.MOST_VALIDITY_DAYS, "remind_every_days": MOST_DAYS_BETWEEN}


def read_by(reader: Callable[[object], _Read], given: object) -> _Read:
    """Return what the reader, one of :mod:`paraph.signature_requests.values`, makes of what was entered. Raise
    ``ValidationError`` with its sentence."""
    try:
        return reader(given)
    except values.InvalidValueError as wrong:
        sentence = str(wrong)
        raise forms.ValidationError(sentence[:1].upper() + sentence[1:]) from wrong


class ReadField(forms.CharField):
    """A text that is read by one of :mod:`paraph.signature_requests.values`, unless it is blank."""

    def __init__(self, reader: Callable[[object], str], **more: Any) -> None:
        super().__init__(**more)
        self.reader = reader

    def clean(self, value: Any) -> str:
        return read_by(self.reader, text) if (text := super().clean(value)) else ""


class ProfileField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's takes none where it runs
    def label_from_instance(self, obj: BrandingProfile) -> str:
        return obj.name


class LinesField(forms.CharField):
    """A text of several lines, whose ends count as one character each, as they do for browsers."""

    widget = forms.Textarea(attrs={"rows": 3})

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class SharedOptions(forms.Form):
    """The options that an organization has defaults for. ``known``: what is chosen already, as drafts keep it."""

    message = LinesField(
        label=_("Message"),
        max_length=LONGEST_MESSAGE,
        required=False,
        help_text=_("Plain text, for invitations and reminders."),
    )
    validity_days = forms.IntegerField(
        label=_("Days until it expires"), min_value=1, max_value=values.MOST_VALIDITY_DAYS
    )
    remind_every_days = forms.IntegerField(
        label=_("Days between reminders"),
        min_value=1,
        max_value=MOST_DAYS_BETWEEN,
        required=False,
        widget=forms.NumberInput(attrs={"placeholder": "\N{EN DASH}"}),
    )
    reminders_at_most = forms.IntegerField(
        label=_("Reminders per signer"),
        min_value=1,
        max_value=MOST_REMINDERS,
        required=False,
        help_text=_("The most that are sent automatically."),
    )
    locale = forms.ChoiceField(label=_("Language"), choices=LANGUAGES)
    branding_profile = ProfileField(
        BrandingProfile.objects.none(), label=_("Branding"), required=False, empty_label=_("Paraph colours")
    )

    def __init__(self, entered: QueryDict | None = None, *, known: Json, member: Member) -> None:
        asked = {"every_days": None, "at_most": _USUAL_REMINDERS} | (known.get("reminders") or {})
        reminders = {"remind_every_days": asked["every_days"], "reminders_at_most": asked["at_most"]}
        initial = {**known, **reminders, "branding_profile": known.get("branding_profile_id")}
        super().__init__(entered, initial=initial)
        branding: Any = self.fields["branding_profile"]
        branding.queryset = profiles = branding_profiles(scope(member)).order_by("name")
        if not allowance(member.organization.plan).branding_profiles or not profiles.exists():
            del self.fields["branding_profile"]
        for name, most in _MOST.items():
            days = str(_("It must be 1 to %(most)s days.")) % {"most": most}
            self.fields[name].error_messages |= dict.fromkeys(("min_value", "max_value", "invalid"), days)

    def options(self) -> Json:
        """Return what was entered, as drafts keep it; nothing of what the form does not ask for."""
        entered = dict(self.cleaned_data)
        if "remind_every_days" in entered:
            every, most = entered.pop("remind_every_days"), entered.pop("reminders_at_most")
            entered["reminders"] = {"every_days": every, "at_most": most or _USUAL_REMINDERS} if every else None
        if "branding_profile" in entered:
            profile = entered.pop("branding_profile")
            entered["branding_profile_id"] = profile.pk if profile else None
        return entered


class OptionsForm(SharedOptions):
    """The options of a draft that the plan allows, and what is said of it to signers."""

    subject = forms.CharField(
        label=_("Subject"),
        max_length=LONGEST_SUBJECT,
        required=False,
        help_text=_("Your organization's name comes first. Leave blank for the standard subject."),
    )
    notify_signers_on_completion = forms.BooleanField(label=_("Mail everyone once all have signed"), required=False)
    decline_allowed = forms.BooleanField(
        label=_("Signers may decline"),
        required=False,
        help_text=_("They must give a reason, and the request then ends."),
    )
    initials_required = forms.BooleanField(label=_("Initials on each page"), required=False)
    title = forms.CharField(
        label=_("Title"),
        max_length=200,
        required=False,
        help_text=_("For your organization only; signers do not see it."),
    )
    external_id = ReadField(
        values.text,
        label=_("Reference"),
        max_length=200,
        required=False,
        help_text=_("What your own system calls this request. Signers do not see it."),
    )
    metadata = LinesField(
        label=_("Your own data"),
        required=False,
        strip=False,
        help_text=_("One entry per line, such as “property: Lime Street 4”. Signers do not see it."),
    )
    callback_url = ReadField(
        values.https_url,
        label=_("Webhooks also go to"),
        max_length=values.LONGEST_URL,
        required=False,
        widget=forms.URLInput(),
    )
    _FOLDED = (
        "notify_signers_on_completion", "decline_allowed", "initials_required", "reminders_at_most",
        "title", "external_id", "metadata", "callback_url",
    )  # fmt: skip

    def __init__(self, entered: QueryDict | None = None, *, draft: Draft, member: Member) -> None:
        known = {**draft.content, **{name: getattr(draft, name) for name in _SAID}}
        known["metadata"] = "\n".join(f"{name}: {text}" for name, text in known.get("metadata", {}).items())
        if address := known.get("callback_url"):
            known["callback_url"] = ascii_address(address)
        super().__init__(entered, known=known, member=member)
        organization = member.organization
        roles = dict.fromkeys(signer.role for signer in draft.signers) or [Role.SIGNER]
        approves = [role == Role.APPROVER for role in roles]
        subject = partial(invitation_subject, draft.locale, organization.name)
        written = dict.fromkeys(subject(draft.subject, is_approver=each) for each in approves)
        self.fields["subject"].widget.attrs["placeholder"] = subject(is_approver=approves[0])
        self.invitation_subjects = list(written)
        self.fields["notify_signers_on_completion"].help_text = (
            _("With a link to their copy.") if organization.mails_copy_links else _("Without a link to their copy.")
        )
        if not allowance(organization.plan).initials:
            del self.fields["initials_required"]
        if draft.content.get("send_email") is False:
            for name in _INVITING:
                del self.fields[name]

    def folded(self) -> Iterator[BoundField]:
        """Yield the fields that stand under "More"."""
        return (self[name] for name in self._FOLDED if name in self.fields)

    @property
    def is_open(self) -> bool:
        """Whether a field under "More" is wrong, so that the user has to see it."""
        return any(field.errors for field in self.folded())

    def clean_metadata(self) -> dict[str, str]:
        lines = (line.partition(":") for line in self.cleaned_data["metadata"].split("\n") if line.strip())
        return read_by(values.metadata, {name.strip(): text.removeprefix(" ") for name, _colon, text in lines})

    def save(self, draft: Draft) -> None:
        """Save what the form has, and nothing else of the draft."""
        self.apply(draft)
        draft.save(update_fields=[*_SAID, "content"])

    def apply(self, draft: Draft) -> None:
        """Change the draft without saving it."""
        for name, value in self.options().items():
            if name in _SAID:
                setattr(draft, name, value)
            elif value in (None, "", {}):
                draft.content.pop(name, None)
            else:
                draft.content[name] = value
