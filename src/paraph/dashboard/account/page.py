"""``/account/``: a person's name and language, and the way to everything else of their account."""

from typing import cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import see_other, show
from paraph.tenants.models import User


class AccountForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, required=False)
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        choices=[("", gettext_lazy("My browser's language")), *settings.LANGUAGES],
        required=False,
    )


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show the account of the user."""
    user = cast(User, request.user)
    form = AccountForm(request.POST or None, initial={"name": user.name, "language": user.language})
    if request.method == "POST" and form.is_valid():
        user.name, user.language = form.cleaned_data["name"], form.cleaned_data["language"]
        user.save(update_fields=["name", "language"])
        messages.success(request, _("Saved."))
        return see_other("account")
    return show(request, "account.html", {"form": form}, status=422 if form.errors else 200)
