"""``/app/{o}/templates``: requests to be sent again."""

from django.db.models import Count, F
from django.http import HttpRequest, HttpResponse

from paraph.dashboard.decorators import member_page, scope, show
from paraph.request_templates.models import Template
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped

_AT_ONCE = 500


@member_page(Right.SEND)
def templates(request: HttpRequest, member: Member) -> HttpResponse:
    mine = (
        scoped(Template, scope(member))
        .defer("request")
        .annotate(document_count=Count("documents"), roles_of=F("request__signers"))
    )
    rows = mine.order_by("name", "pk")[:_AT_ONCE]
    return show(request, "request_templates/listing.html", {"rows": rows}, member=member)
