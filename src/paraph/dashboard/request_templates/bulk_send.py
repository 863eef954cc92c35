"""``/app/{o}/templates/bulk/{id}``: what is wrong with the rows, sending them, and how far it is."""

from collections.abc import Iterable

from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import override

from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.dashboard.request_templates.bulk_upload import csv_answer
from paraph.dashboard.request_templates.found import bulk_send_of
from paraph.flow.sending.bulk_send import cancel_bulk_send, start_bulk_send
from paraph.flow.sending.create import Sender
from paraph.kernel.errors import DomainError
from paraph.request_templates.bulk.columns import FieldColumns, find_columns, names_in
from paraph.request_templates.bulk.csv_file import write_csv
from paraph.request_templates.models import BulkRow, BulkSend, RowState
from paraph.server.client_address import origin
from paraph.signature_requests.models import Signer
from paraph.tenants.limits import web_sends
from paraph.tenants.models import Member
from paraph.tenants.rights import Right

_ROWS = 100
_SIGNERS = Prefetch("request__signers", Signer.objects.only("request_id", "first_name", "last_name"))


@member_page(Right.SEND)
def bulk_send(request: HttpRequest, member: Member, bulk_send_id: int) -> HttpResponse:
    """Show the page; answer its own script with the part that changes."""
    return _page(request, member, bulk_send_of(member, bulk_send_id))


@member_page(Right.SEND)
def start(request: HttpRequest, member: Member, bulk_send_id: int) -> HttpResponse:
    """``POST …/start``. Field ``skip``: whether to leave out the rows that are wrong."""
    found = bulk_send_of(member, bulk_send_id)
    if request.method == "POST":
        sender = Sender(origin(request), actor(request, member))
        try:
            start_bulk_send(scope(member), found.pk, sender, skip_wrong="skip" in request.POST)
        except DomainError as refused:
            return _page(request, member, bulk_send_of(member, bulk_send_id), refused.message)
    return see_other("bulk_send", member.organization_id, found.pk)


@member_page(Right.SEND)
def cancel(request: HttpRequest, member: Member, bulk_send_id: int) -> HttpResponse:
    """``POST …/cancel``."""
    found = bulk_send_of(member, bulk_send_id)
    if request.method == "POST":
        cancel_bulk_send(scope(member), found.pk, actor(request, member))
    return see_other("bulk_send", member.organization_id, found.pk)


@member_page(Right.SEND)
def errors_csv(request: HttpRequest, member: Member, bulk_send_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/errors.csv``: the rows that were not sent, as they stood in the file, with what is wrong with each."""
    found = bulk_send_of(member, bulk_send_id)
    width = len(found.columns)
    rows = [
        [*row.cells[:width], *[""] * (width - len(row.cells)), str(row.number), " ".join(row.problems)]
        for row in found.rows.filter(state__in=[RowState.WRONG, RowState.REFUSED])
    ]
    return csv_answer(write_csv([*found.columns, _("Row"), _("Error")], rows), f"errors-{found.pk}.csv")


def _page(request: HttpRequest, member: Member, found: BulkSend, refused: str = "") -> HttpResponse:
    counted = found.rows.values_list("state").annotate(count=Count("pk"))
    counts = dict.fromkeys(RowState.values, 0) | {str(state): count for state, count in counted}
    content = {
        "bulk": found,
        "counts": counts,
        "handled": counts[RowState.SENT] + counts[RowState.REFUSED],
        "total": counts[RowState.SENT] + counts[RowState.REFUSED] + counts[RowState.READY],
        "failed": counts[RowState.WRONG] + counts[RowState.REFUSED],
        "problems": _named(found, found.rows.filter(state__in=[RowState.WRONG, RowState.REFUSED])[:_ROWS]),
        "sent": found.rows.filter(state=RowState.SENT).prefetch_related(_SIGNERS).order_by("-number")[:_ROWS],
        "quota": web_sends(member.organization_id, member.organization.plan),
        "refused": refused,
        "most_shown": _ROWS,
    }
    part = "bulk_progress" if request.headers.get("HX-Request") == "true" else "bulk_send"
    return show(request, f"request_templates/{part}.html", content, member=member, status=422 if refused else 200)


def _named(found: BulkSend, rows: Iterable[BulkRow]) -> list[tuple[BulkRow, str]]:
    """Return each row with the names in it, as the file's columns have them; none once the template is gone."""
    places: FieldColumns = {}
    if found.template:
        with override(found.language):  # that of the columns
            places = find_columns(found.template.roles, found.columns)
    return [(row, ", ".join(names_in(places, row.cells))) for row in rows]
