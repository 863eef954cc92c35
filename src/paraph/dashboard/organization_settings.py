"""``/app/{o}/settings``: name, contact address, which documents are taken and what mails hold, what new requests begin
with, how long files and people are kept, deletion.

Everybody may read them; owners and admins change them, owners alone retention and deletion.
"""

from typing import Any

from django import forms
from django.conf import settings as service
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, done, environments, member_page, reauthenticated, refusals_in, show
from paraph.dashboard.drafts.options import LANGUAGES, SharedOptions
from paraph.flow.ending import delete_organization
from paraph.tenants.lifecycle import DAYS_AFTER_DELETION, LONGEST_DAYS, change_retention, retention_days
from paraph.tenants.members import Right, may
from paraph.tenants.models import Environment, Member, Organization
from paraph.tenants.organizations import (
    change_request_defaults,
    change_settings,
    production_applications,
    request_defaults,
)

_NO_APPLICATION: Any = 0


class SettingsForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("Signers see it on every page and in every mail."),
    )
    contact_email = forms.EmailField(
        label=gettext_lazy("Contact address"),
        max_length=254,
        required=False,
        help_text=gettext_lazy("Signers' questions are sent here. Without an address, they cannot ask any."),
    )
    refuse_changeable_documents = forms.BooleanField(
        label=gettext_lazy("Refuse documents that can change their appearance"),
        required=False,
        help_text=gettext_lazy(
            "In production, this includes documents that print differently than they look on screen."
        ),
    )
    mails_copy_links = forms.BooleanField(
        label=gettext_lazy("Send signers a link to their copy"),
        required=False,
        help_text=gettext_lazy("In the mail that says everyone has signed."),
    )
    esign_disclosure = forms.BooleanField(
        label=gettext_lazy("Show signers the ESIGN disclosure of US law"),
        required=False,
        help_text=gettext_lazy("In English, before they consent. You promise them paper copies free of charge."),
    )

    web_application_id = forms.TypedChoiceField(
        label=gettext_lazy("Application notified of requests sent from here"),
        required=False,
        coerce=int,
        empty_value=_NO_APPLICATION,
        help_text=gettext_lazy(
            "Its webhook URL gets their events, signed with its secret, and its sites may show their signing pages in "
            "a frame. Production applications only."
        ),
    )

    def __init__(self, organization: Organization, entered: QueryDict | None = None) -> None:
        known = {name: getattr(organization, name) for name in self.base_fields}
        super().__init__(entered, initial=known)
        applications = production_applications(organization.pk).values_list("pk", "name")
        field: Any = self.fields["web_application_id"]
        field.choices = [("", gettext_lazy("None")), *applications]


class DefaultsForm(SharedOptions):
    """What new requests begin with. Without a language chosen here, a request has the language of whoever begins it."""

    locale = forms.ChoiceField(
        label=gettext_lazy("Language"), required=False, choices=[("", gettext_lazy("The sender's own")), *LANGUAGES]
    )

    def __init__(self, entered: QueryDict | None = None, *, member: Member) -> None:
        known = {"validity_days": 30, **request_defaults(member.organization)}
        super().__init__(entered, known=known, member=member)


def _days(label: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=LONGEST_DAYS)


class RetentionForm(forms.Form):
    """Days until files are deleted and people forgotten, by environment; empty to keep them for ever."""

    production = _days(gettext_lazy("Production: days until files are deleted"))
    production_people = _days(gettext_lazy("Production: days until people are forgotten"))
    sandbox = _days(gettext_lazy("Sandbox: days until files are deleted"))
    sandbox_people = _days(gettext_lazy("Sandbox: days until people are forgotten"))


class DeletionForm(forms.Form):
    typed_name = forms.CharField(
        label=gettext_lazy("Organization's name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


@member_page(Right.SEE, post=Right.BUILD)
def settings(request: HttpRequest, member: Member) -> HttpResponse:
    return (_change if request.method == "POST" else _page)(request, member)


@reauthenticated
def _change(request: HttpRequest, member: Member) -> HttpResponse:
    """Change the settings. Which application is notified of requests, and whose sites may frame them, is changed only
    by somebody who has just logged in, just as an application's own webhook URL and sites are."""
    form = SettingsForm(member.organization, request.POST)
    if form.is_valid():
        with refusals_in(form):
            change_settings(member.organization_id, actor(request, member), **form.cleaned_data)
            return _saved(request, member)
    return _page(request, member, form=form)


@member_page(Right.BUILD, post_only=True)
def defaults(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/settings/defaults``."""
    form = DefaultsForm(request.POST, member=member)
    if form.is_valid():
        change_request_defaults(member.organization_id, actor(request, member), form.options())
        return _saved(request, member)
    return _page(request, member, defaults_form=form)


@member_page(Right.RULE, post_only=True, fresh=True)
def retention(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/settings/retention``, where the operator leaves it to owners."""
    form = RetentionForm(request.POST)
    if not service.PARAPH.owners_set_retention:
        form.add_error(None, _("On this service, only the operator can change how long data is kept."))
    elif form.is_valid():
        days = {each: form.cleaned_data[each] for each in Environment.values}
        people_days = {each: form.cleaned_data[f"{each}_people"] for each in Environment.values}
        with refusals_in(form):
            change_retention(member.organization_id, actor(request, member), days, people_days)
            return _saved(request, member)
    return _page(request, member, retention_form=form)


@member_page(Right.RULE, post_only=True, fresh=True)
def delete(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/settings/delete``."""
    form = DeletionForm(request.POST)
    if form.is_valid():
        with refusals_in(form, "typed_name"):
            delete_organization(member.organization_id, actor(request, member), form.cleaned_data["typed_name"])
            return done(request, _("The organization was deleted."), "organizations")
    return _page(request, member, deletion_form=form)


def _saved(request: HttpRequest, member: Member) -> HttpResponse:
    return done(request, _("Saved."), "settings", member.organization_id)


def _page(request: HttpRequest, member: Member, **forms_sent: forms.Form) -> HttpResponse:
    """Return the whole page, with the form that was sent and its errors."""
    organization, shown = member.organization, environments(member)
    days, people_days = (retention_days(organization.pk, kept) for kept in ("days", "people_days"))
    of_people = {f"{environment}_people": number for environment, number in people_days.items()}
    content: dict[str, Any] = {
        "may_change": may(member.role, Right.BUILD),
        "may_rule": may(member.role, Right.RULE),
        "may_keep": may(member.role, Right.RULE) and service.PARAPH.owners_set_retention,
        "form": SettingsForm(organization),
        "defaults_form": DefaultsForm(member=member),
        "retention_form": RetentionForm(initial=days | of_people),
        "deletion_form": DeletionForm(),
        "retention": [(environment, days[environment]) for environment in shown],
        "people_retention": [(environment, people_days[environment]) for environment in shown],
        "days_after_deletion": DAYS_AFTER_DELETION,
    }
    return show(request, "settings.html", content | forms_sent, member=member)
