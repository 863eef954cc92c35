"""``/app/{o}/applications``: all applications, how lately their keys were used, and which of them a key belongs to;
``…/{id}``: one of them, its settings, its keys side by side, and its revocation."""

from datetime import timedelta
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, done, member_page, scope, show, shown_environment, shown_scope
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.applications import (
    NewApplication,
    Rotated,
    create_application,
    revoke_application,
    revoke_key,
    rotate_application,
    update_application,
)
from paraph.tenants.limits import key_hash
from paraph.tenants.members import Right
from paraph.tenants.models import ApiKey, Application, Environment, Member
from paraph.tenants.scope import scoped
from paraph.tenants.usage import RecentCalls, recent_calls

_OVERLAPS = [
    (0, gettext_lazy("Not at all: revoke them at once")),
    (24, gettext_lazy("One day")),
    (24 * 7, gettext_lazy("A week")),
    (24 * 30, gettext_lazy("30 days")),
    (24 * 90, gettext_lazy("90 days")),
]
_WEBHOOK_HELP = gettext_lazy(
    "Where events are sent, such as https://example.com/hooks/paraph. Without a URL, the sandbox keeps and shows them."
)


class NewApplicationForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    environment = forms.ChoiceField(
        label=gettext_lazy("Environment"),
        choices=Environment.choices,
        help_text=gettext_lazy(
            "The sandbox is for testing: nothing signed there is legally binding. An application cannot be "
            "moved to production later."
        ),
    )
    webhook_url = forms.CharField(
        label=gettext_lazy("Webhook URL"),
        required=False,
        max_length=2000,
        help_text=_WEBHOOK_HELP,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocapitalize": "off", "spellcheck": "false"}),
    )


class SettingsForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    webhook_url = NewApplicationForm.base_fields["webhook_url"]
    frame_origins = forms.CharField(
        label=gettext_lazy("Frame origins"),
        required=False,
        help_text=gettext_lazy(
            "Sites that may show signing pages in a frame, one per line. Leave empty to allow any site."
        ),
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )


class RotationForm(forms.Form):
    overlap = forms.TypedChoiceField(
        label=gettext_lazy("Keep the old key and secret valid for"), choices=_OVERLAPS, coerce=int, initial=24
    )


class RevokeForm(forms.Form):
    application_name = forms.CharField(
        label=gettext_lazy("Application's name"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, application: Application, *args: Any) -> None:
        super().__init__(*args)
        self._name = application.name

    def clean_application_name(self) -> str:
        given: str = self.cleaned_data["application_name"]
        if given != self._name:
            raise forms.ValidationError(_("This is not the name of the application."))
        return given


class KeyForm(forms.Form):
    """The key is never shown again, neither in the form nor anywhere else."""

    key = forms.CharField(
        label=gettext_lazy("API key"),
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )


def add_refusal(form: forms.Form, refusal: DomainError) -> None:
    """Add the sentence of a refusal to the field whose name it begins with, without that name, which stands before it
    already; else to the whole form."""
    for name in form.fields:
        about = refusal.message.partition(" ")[0]
        if about in (name, name.removesuffix("s")):
            sentence = refusal.message.removeprefix(about).lstrip()
            form.add_error(name, sentence[:1].upper() + sentence[1:])
            return
    form.add_error(None, refusal.message)


_NEW = timedelta(hours=1)
_SILENT_AFTER = timedelta(hours=1)


def applications_of(member: Member) -> QuerySet[Application]:
    sandbox, production = (scoped(Application, scope(member, environment)) for environment in Environment)
    return sandbox | production


def application_of(member: Member, application_id: int) -> Application:
    """Return the application. Raise ``Http404`` for one that is not the organization's."""
    return get_object_or_404(applications_of(member), pk=application_id)


def is_new(application: Application) -> bool:
    """Return whether pages still wait for the application's first call: those that stay open do not ask for ever."""
    return clock.now() - application.created_at < _NEW


@member_page(Right.BUILD)
def applications(request: HttpRequest, member: Member) -> HttpResponse:
    return _list_page(request, member, KeyForm())


@member_page(Right.BUILD, post_only=True)
def which_key(request: HttpRequest, member: Member) -> HttpResponse:
    """Find the application of a key by the key's hash, among the keys of the organization alone."""
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _list_page(request, member, form)
    mine = ApiKey.objects.filter(application__in=applications_of(member))
    key = mine.filter(sha256=key_hash(form.cleaned_data["key"])).select_related("application").first()
    if key is None:
        refusal = _("This key does not belong, and never belonged, to an application of this organization.")
        form.add_error("key", refusal)
        return _list_page(request, member, form)
    sentence = _("This is key %(number)d of %(name)s.") % {"number": key.pk, "name": key.application.name}
    page = reverse("application", args=[member.organization_id, key.application_id])
    return done(request, sentence, f"{page}#key-{key.pk}")


def _list_page(request: HttpRequest, member: Member, form: KeyForm) -> HttpResponse:
    live = Count("keys", filter=Q(keys__revoked_at=None) | Q(keys__revoked_at__gt=clock.now()))
    mine = scoped(Application, shown_scope(request, member)).order_by("pk")
    rows = mine.annotate(live_keys=live, last_used_at=Max("keys__last_used_at"))
    content = {"rows": [(row, is_new(row)) for row in rows], "form": form}
    return show(request, "applications/listing.html", content, member=member)


@member_page(Right.BUILD, fresh=True)
def new_application(request: HttpRequest, member: Member) -> HttpResponse:
    form = NewApplicationForm(request.POST or None, initial={"environment": shown_environment(request, member)})
    if request.method == "POST" and form.is_valid():
        try:
            made = create_application(member.organization_id, actor(request, member), **form.cleaned_data)
            return _show_secrets(request, member, made)
        except DomainError as refusal:
            if refusal.code == "payment_required":
                form.add_error("environment", refusal.message)
            else:
                add_refusal(form, refusal)
    return show(request, "applications/new.html", {"form": form}, member=member)


@member_page(Right.BUILD, application_id=application_of)
def application(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    return _application_page(request, member, found)


@member_page(Right.BUILD, post_only=True, fresh=True, application_id=application_of)
def save_settings(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    form = SettingsForm(request.POST)
    if not form.is_valid():
        return _application_page(request, member, found, settings=form)
    given = form.cleaned_data
    origins = given.pop("frame_origins").split()
    try:
        update_application(actor(request, member), found, origins, **given)
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _application_page(request, member, found, settings=form)
    return done(request, _("Saved."), "application", member.organization_id, found.pk)


@member_page(Right.BUILD, post_only=True, fresh=True, application_id=application_of)
def revoke(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    """Revoke all keys of the application, once its name is typed."""
    form = RevokeForm(found, request.POST)
    if not form.is_valid():
        return _application_page(request, member, found, revocation=form)
    revoke_application(actor(request, member), found)
    sentence = _("All keys of %(name)s are revoked.") % {"name": found.name}
    return done(request, sentence, "application", member.organization_id, found.pk)


def _application_page(request: HttpRequest, member: Member, found: Application, **refused: forms.Form) -> HttpResponse:
    """Return the page, with the form that could not be taken, if any."""
    keys, entered = _keys(found), {"name": found.name, "webhook_url": found.webhook_url}
    live = [row for row in keys if row.is_live]
    content: dict[str, Any] = {
        "application": found,
        "keys": keys,
        "live": live,
        "last_used_at": max((row.key.last_used_at for row in keys if row.key.last_used_at), default=None),
        "calls": sum(row.calls.together for row in keys),
        "settings": SettingsForm(initial={**entered, "frame_origins": "\n".join(found.frame_origins.split())}),
        "rotation": RotationForm(),
        "revocation": RevokeForm(found),
    }
    page = "applications/application.html"
    return show(request, page, content | refused, member=member, environment=found.environment)


class _KeyRow(NamedTuple):
    """``outlived``: a newer key works as well, so that this one can end when it is ``silent``."""

    key: ApiKey
    calls: RecentCalls
    is_live: bool
    silent: bool
    outlived: bool


def _keys(found: Application) -> list[_KeyRow]:
    """List the keys, the newest first."""
    keys, now = list(found.keys.order_by("-pk")), clock.now()
    calls = recent_calls([key.pk for key in keys])
    rows: list[_KeyRow] = []
    for key in keys:
        is_live = key.revoked_at is None or key.revoked_at > now
        silent = key.last_used_at is None or now - key.last_used_at > _SILENT_AFTER
        outlived = is_live and any(row.is_live for row in rows)
        rows.append(_KeyRow(key, calls[key.pk], is_live, silent, outlived))
    return rows


@member_page(Right.BUILD, post_only=True, fresh=True, application_id=application_of)
def rotate(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    form = RotationForm(request.POST)
    if not form.is_valid():
        return _application_page(request, member, found, rotation=form)
    overlap = timedelta(hours=form.cleaned_data["overlap"])
    return _show_secrets(request, member, rotate_application(actor(request, member), found, overlap))


@member_page(Right.BUILD, post_only=True, fresh=True, application_id=application_of)
def end_key(request: HttpRequest, member: Member, found: Application, key_id: int) -> HttpResponse:
    revoke_key(actor(request, member), get_object_or_404(found.keys.select_related("application"), pk=key_id))
    sentence = _("Key %(number)d was revoked.") % {"number": key_id}
    return done(request, sentence, "application", member.organization_id, found.pk)


def _show_secrets(request: HttpRequest, member: Member, made: NewApplication | Rotated) -> HttpResponse:
    """Render the secrets into the answer to the form that made them: no address leads to them, nothing keeps them.

    The page has no form: without a referrer, browsers hide the origin of a form, and the CSRF check refuses it.
    """
    content = {
        "application": made.application,
        "api_key": made.api_key,
        "webhook_secret": made.webhook_secret,
        "is_first": isinstance(made, NewApplication),
        "ends_at": made.ends_at if isinstance(made, Rotated) else None,
        "base_url": f"{settings.PARAPH.public_url}/api/v1",
    }
    environment = made.application.environment
    response = show(request, "applications/secrets.html", content, member=member, environment=environment)
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
