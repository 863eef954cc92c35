"""``/app/new``: a further organization, where the service lets people make their own."""

from typing import cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from paraph.dashboard.decorators import see_other, show
from paraph.kernel.errors import DomainError
from paraph.server.client_address import client_address
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import ActorKind, User
from paraph.tenants.organizations import may_open_organization, open_organization


class NewOrganizationForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)


@never_cache
@login_required
def new_organization(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    if not may_open_organization(user):
        return show(request, "new_organization_closed.html", {}, status=403)
    form = NewOrganizationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        actor = Actor(ActorKind.MEMBER, user.pk, user.email, client_address(request))
        try:
            return see_other("home", open_organization(user, actor, form.cleaned_data["name"]).pk)
        except DomainError as refusal:
            form.add_error(None, refusal.message)
    return show(request, "new_organization.html", {"form": form}, status=422 if form.errors else 200)
