"""``/account/``: a person's name and language, their mails, and the way to everything else of their account;
``…/first/{token}/``: the link that the service's first start prints makes its first owner."""

from typing import cast

from allauth.account.forms import LoginForm
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.http import HttpRequest, HttpResponse
from django.utils.functional import lazystr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import done, show
from paraph.kernel.errors import DomainError
from paraph.tenants.accounts import mute_all_but, wanted_mails
from paraph.tenants.members import check_first_owner_token, make_first_owner
from paraph.tenants.models import MailKind, User


class AccountForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, required=False)
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        choices=[("", gettext_lazy("My browser's language")), *settings.LANGUAGES],
        required=False,
    )


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show and save the name and the language of the user."""
    user = cast(User, request.user)
    form = AccountForm(request.POST or None, initial={"name": user.name, "language": user.language})
    if request.method == "POST" and form.is_valid():
        user.name, user.language = form.cleaned_data["name"], form.cleaned_data["language"]
        user.save(update_fields=["name", "language"])
        return done(request, _("Saved."), "account")
    return show(request, "account.html", {"form": form})


class MailsForm(forms.Form):
    wanted = forms.MultipleChoiceField(
        label=gettext_lazy("Mail me when"),
        choices=MailKind.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


@login_required
def mails(request: HttpRequest) -> HttpResponse:
    """Show and save which kinds of mail the user wants."""
    user = cast(User, request.user)
    form = MailsForm(request.POST if request.method == "POST" else None, initial={"wanted": wanted_mails(user)})
    if request.method == "POST" and form.is_valid():
        mute_all_but(user, form.cleaned_data["wanted"])
        return done(request, _("Saved."), "account_mails")
    return show(request, "account_mails.html", {"form": form})


class FirstOwnerForm(forms.Form):
    organization = forms.CharField(
        label=gettext_lazy("Organization's name"),
        max_length=200,
        required=False,  # older programs do not send it; whoever sends a request is told that it is missing
        help_text=gettext_lazy("Signers see it in every mail and on the signing page."),
        widget=forms.TextInput(attrs={"autocomplete": "organization", "autofocus": True}),
    )
    name = forms.CharField(
        label=gettext_lazy("Your name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(label=gettext_lazy("E-mail"), widget=forms.EmailInput(attrs={"autocomplete": "username"}))
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=lazystr(password_validators_help_text_html()),
    )


def first_owner(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for the name, address and password of the first owner, then lead straight to their organization."""
    try:
        check_first_owner_token(token)
    except DomainError as refusal:
        return show(request, "first_owner_outdated.html", {"sentence": refusal.message}, status=410)
    form = FirstOwnerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            member = make_first_owner(token, given["name"], given["email"], given["password"], given["organization"])
            entry = LoginForm({"login": given["email"], "password": given["password"]}, request=request)
            entry.is_valid()
            return cast(HttpResponse, entry.login(request, redirect_url=f"/app/{member.organization_id}/"))
        except DomainError as refusal:
            form.add_error("password" if refusal.code == "validation_error" else None, refusal.message)
    if wrong := next((field for name, field in form.fields.items() if name in form.errors), None):
        form.fields["organization"].widget.attrs.pop("autofocus")
        wrong.widget.attrs["autofocus"] = True
    return show(request, "first_owner.html", {"form": form})
