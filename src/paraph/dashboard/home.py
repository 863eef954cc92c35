"""``/app/`` and ``/app/{organization}/``: where a member arrives."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from paraph.administration.organizations import may_open_organization
from paraph.dashboard.door import member_page, show
from paraph.members.models import Member, User
from paraph.members.rights import Right


@never_cache
@login_required
def organizations(request: HttpRequest) -> HttpResponse:
    """The member's organizations; the only one at once."""
    user = cast(User, request.user)
    rows = user.memberships.filter(organization__deleted_at=None).select_related("organization")
    memberships = list(rows.order_by("organization_id"))
    if len(memberships) == 1:
        return redirect("home", memberships[0].organization_id)
    return show(request, "organizations.html", {"memberships": memberships, "may_open": may_open_organization(user)})


@member_page(Right.SEE)
def home(request: HttpRequest, member: Member) -> HttpResponse:
    return show(request, "home.html", {}, member=member)
