"""Signing up: a name besides address and password; the address of an invitation stands fast."""

from typing import Any

from allauth.account.forms import SignupForm
from allauth.core import context
from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from paraph.dashboard.account.adapter import invited_address
from paraph.tenants.models import User


class SignUpForm(SignupForm):  # type: ignore[misc]
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    field_order = ["name", "email", "password1"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if invited := invited_address(context.request):
            self.fields["email"].initial = invited
            self.fields["email"].disabled = True  # what a browser sends for it does not count

    def custom_signup(self, request: HttpRequest, user: User) -> None:  # noqa: ARG002  allauth's form
        user.name = self.cleaned_data["name"]
        user.save(update_fields=["name"])
