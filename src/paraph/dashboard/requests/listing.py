"""``/app/{o}/requests``: all requests of the organization, searched and filtered."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import member_page, scope, show
from paraph.dashboard.requests.filters import Filters
from paraph.dashboard.requests.pages import Page, page
from paraph.signature_requests.models import RequestStatus
from paraph.signature_requests.values import LARGEST_ID
from paraph.tenants import daily_counts
from paraph.tenants.models import Member
from paraph.tenants.rights import Right, may

AT_ONCE = 50


@member_page(Right.SEE)
def requests(request: HttpRequest, member: Member) -> HttpResponse:
    filters = Filters(request.GET)
    if not filters.is_valid():
        return show(request, "requests/listing.html", {"filters": filters, "page": Page()}, member=member, status=422)
    backwards = "previous" in request.GET
    start = _number(request.GET.get("previous" if backwards else "following", ""))
    shown = page(member, filters, AT_ONCE, start, backwards=backwards)
    query = filters.query()
    content = {
        "filters": filters,
        "page": shown,
        "tabs": [] if filters.words else _tabs(member, filters),
        "query": urlencode(query),
        "newer": _address(query, previous=shown.previous),
        "older": _address(query, following=shown.following),
        "asked": query,
        "may_send": may(member.role, Right.SEND),
    }
    return show(request, "requests/listing.html", content, member=member)


def _tabs(member: Member, filters: Filters) -> list[dict[str, Any]]:
    """Return each status with the number of its requests, as the other filters choose them."""
    counts = Counter[str]()
    for environment in filters.environments:
        counts.update(daily_counts.by_status(scope(member, environment), "signature_requests", *filters.days()))
    query = filters.query()
    chosen = query.pop("status", "")
    labels = [
        ("", _("All")),
        (RequestStatus.PENDING.value, RequestStatus.PENDING.label),
        (RequestStatus.COMPLETED.value, RequestStatus.COMPLETED.label),
        (RequestStatus.EXPIRED.value, _("Ended")),
    ]
    return [
        {
            "label": label,
            "count": counts[status] if status else counts.total(),
            "address": f"?{urlencode(query | {'status': status})}",
            "current": status == chosen,
        }
        for status, label in labels
    ]


def _address(query: dict[str, Any], **going: int | None) -> str:
    """Return the same list from a request on; "" where there is none."""
    return f"?{urlencode(query | going)}" if all(going.values()) else ""


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_ID else None
