"""``/app/{o}/templates/{id}/bulk``: a CSV of people, each row of which is to become a request; and
``/app/{o}/templates/bulk/{id}``: what is wrong with the rows, sending them, and how far it is."""

from collections.abc import Iterable

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from paraph.dashboard.decorators import (
    FIELD,
    actor,
    csv_answer,
    file_field,
    member_page,
    refusals_in,
    scope,
    see_other,
    show,
    takes_small_file,
)
from paraph.dashboard.request_templates.templates import sendable_template_of, with_mail
from paraph.flow.sending.create import Sender
from paraph.flow.sending.templates import cancel_bulk_send, sample_mail, start_bulk_send
from paraph.kernel.errors import DomainError
from paraph.request_templates.bulk_rows import check_rows
from paraph.request_templates.csv_file import (
    MOST_BYTES,
    MOST_ROWS,
    FieldColumns,
    asked_of,
    find_columns,
    find_values,
    names_in,
    read_csv,
    sample,
    sample_values,
    unused_columns,
    write_csv,
)
from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus, RowState, Template
from paraph.server.client_address import origin
from paraph.signature_requests.models import Signer
from paraph.tenants.lifecycle import require_active
from paraph.tenants.limits import web_sends
from paraph.tenants.members import Right
from paraph.tenants.models import Member
from paraph.tenants.scope import scoped

_ROWS = 100
_SIGNERS = Prefetch("request__signers", Signer.objects.only("request_id", "first_name", "last_name"))


class CsvForm(forms.Form):
    file = file_field(gettext_lazy("CSV file"), ".csv,.txt,text/csv", gettext_lazy("Choose a CSV file."))


@member_page(Right.SEND)
@takes_small_file(MOST_BYTES, "request_templates/too_large.html", lambda: _("The file is larger than 1 MiB."))
def bulk_upload(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    template = sendable_template_of(member, template_id)
    form = CsvForm(request.POST, request.FILES) if request.method == "POST" else CsvForm()
    if form.is_bound and form.is_valid():
        with refusals_in(form, FIELD):
            made = _checked(request, member, template, form.cleaned_data[FIELD])
            return see_other("bulk_send", member.organization_id, made.pk)
    content = {
        "template": template,
        "form": form,
        "mail": sample_mail(template, member.organization, member.user),
        "columns": _sample(template)[0],
        "most": MOST_ROWS,
        "quota": web_sends(member.organization_id, member.organization.plan),
    }
    return with_mail(show(request, "request_templates/bulk_upload.html", content, member=member))


@member_page(Right.SEND, template_id=sendable_template_of)
def sample_csv(_request: HttpRequest, _member: Member, template: Template) -> HttpResponse:
    """``…/templates/{id}/sample.csv``: the header that is wanted, with a row as an example."""
    columns, row = _sample(template)
    return csv_answer(write_csv(columns, [row]), "sample.csv")


def _sample(template: Template) -> tuple[list[str], list[str]]:
    roles = template.roles
    people, values = sample(roles), sample_values(roles, asked_of(template))
    return people[0] + values[0], people[1] + values[1]


def _checked(request: HttpRequest, member: Member, template: Template, file: "UploadedFile[bytes]") -> BulkSend:
    require_active(scope(member))
    table = read_csv(file.read())
    roles = template.roles
    places = find_columns(roles, table.columns)
    values = find_values(roles, asked_of(template), table.columns, places.values())
    made = check_rows(scope(member), template, member.user, file.name or "", table)
    if unused := unused_columns([*places.values(), *values.values()], table.columns):
        sentence = ngettext("Ignored column: %(columns)s.", "Ignored columns: %(columns)s.", len(unused))
        messages.warning(request, sentence % {"columns": ", ".join(unused)})
    return made


def _bulk_send_of(member: Member, bulk_send_id: int) -> BulkSend:
    bulk_sends = scoped(BulkSend, scope(member)).select_related("template", "author")
    return get_object_or_404(bulk_sends, pk=bulk_send_id)


@member_page(Right.SEND, bulk_send_id=_bulk_send_of)
def bulk_send(request: HttpRequest, member: Member, found: BulkSend) -> HttpResponse:
    """Show the page; answer its own script with the part that changes."""
    return _page(request, member, found)


@member_page(Right.SEND, bulk_send_id=_bulk_send_of)
def start(request: HttpRequest, member: Member, found: BulkSend) -> HttpResponse:
    """``POST …/start``. Field ``skip``: whether to leave out the rows that are wrong."""
    if request.method == "POST":
        sender = Sender(origin(request), actor(request, member))
        try:
            start_bulk_send(scope(member), found.pk, sender, skip_wrong="skip" in request.POST)
        except DomainError as refused:
            return _page(request, member, _bulk_send_of(member, found.pk), refused.message)
    return see_other("bulk_send", member.organization_id, found.pk)


@member_page(Right.SEND, bulk_send_id=_bulk_send_of)
def cancel(request: HttpRequest, member: Member, found: BulkSend) -> HttpResponse:
    """``POST …/cancel``."""
    if request.method == "POST":
        cancel_bulk_send(scope(member), found.pk, actor(request, member))
    return see_other("bulk_send", member.organization_id, found.pk)


@member_page(Right.SEND, bulk_send_id=_bulk_send_of)
def errors_csv(_request: HttpRequest, _member: Member, found: BulkSend) -> HttpResponse:
    """``…/errors.csv``: the rows that were not sent, as they stood in the file, with what is wrong with each."""
    width = len(found.columns)
    rows = [
        [*row.cells[:width], *[""] * (width - len(row.cells)), str(row.number), " ".join(row.problems)]
        for row in found.rows.filter(state__in=[RowState.WRONG, RowState.REFUSED])
    ]
    return csv_answer(write_csv([*found.columns, _("Row"), _("Error")], rows), f"errors-{found.pk}.csv")


def _page(request: HttpRequest, member: Member, found: BulkSend, problem: str = "") -> HttpResponse:
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
        "problem": problem,
        "most_shown": _ROWS,
    }
    if request.headers.get("HX-Request") == "true":
        return show(request, "request_templates/bulk_progress.html", content, member=member)
    if found.template and found.status == BulkStatus.CHECKED:
        content |= {"template": found.template, "mail": sample_mail(found.template, member.organization, member.user)}
    return with_mail(show(request, "request_templates/bulk_send.html", content, member=member))


def _named(found: BulkSend, rows: Iterable[BulkRow]) -> list[tuple[BulkRow, str]]:
    """Return each row with the names in it, as the file's columns have them; none once the template is gone."""
    places: FieldColumns = {}
    if found.template:
        with override(found.language):  # the columns are in this language
            places = find_columns(found.template.roles, found.columns)
    return [(row, ", ".join(names_in(places, row.cells))) for row in rows]
