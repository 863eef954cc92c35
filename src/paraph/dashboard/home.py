"""``/app/`` and ``/app/{organization}/``: where a member arrives."""

from collections import Counter
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from paraph.dashboard.attention import attention
from paraph.dashboard.decorators import member_page, scope, show
from paraph.dashboard.documents.uploads import limit_mb
from paraph.dashboard.first_steps import first_steps
from paraph.dashboard.requests.filters import Filters
from paraph.dashboard.requests.pages import page
from paraph.tenants.daily_counts import by_status
from paraph.tenants.limits import web_sends
from paraph.tenants.models import Environment, Member, User
from paraph.tenants.organizations import may_open_organization
from paraph.tenants.rights import Right, may

_LATEST = 5


@never_cache
@login_required
def organizations(request: HttpRequest) -> HttpResponse:
    """List the member's organizations; show the only one at once."""
    user = cast(User, request.user)
    rows = user.memberships.filter(organization__deleted_at=None).select_related("organization")
    memberships = list(rows.order_by("organization_id"))
    if len(memberships) == 1:
        return redirect("home", memberships[0].organization_id)
    return show(request, "organizations.html", {"memberships": memberships, "may_open": may_open_organization(user)})


@member_page(Right.SEE)
def home(request: HttpRequest, member: Member) -> HttpResponse:
    counts = _counts(member)
    organization = member.organization
    content = {
        "counts": counts,
        "latest": page(member, _all(), _LATEST).rows if counts.total() else [],
        "attention": attention(member),
        "steps": first_steps(member, counts),
        "quota": web_sends(organization.pk, organization.plan),
        "limit": limit_mb(),
        "may_send": may(member.role, Right.SEND),
        "may_build": may(member.role, Right.BUILD),
    }
    return show(request, "home.html", content, member=member)


def _counts(member: Member) -> Counter[str]:
    """Return the number of requests of each status, of both environments."""
    counts = Counter[str]()
    for environment in Environment:
        counts.update(by_status(scope(member, environment), "signature_requests"))
    return counts


def _all() -> Filters:
    filters = Filters({})
    filters.is_valid()
    return filters
