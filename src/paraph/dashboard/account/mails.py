"""``/account/mails/``: which mails somebody gets about the requests that they sent."""

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import see_other, show
from paraph.tenants.accounts import mute_all_but, wanted_mails
from paraph.tenants.models import MailKind, User


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
        messages.success(request, _("Saved."))
        return see_other("account_mails")
    return show(request, "account_mails.html", {"form": form}, status=422 if form.errors else 200)
