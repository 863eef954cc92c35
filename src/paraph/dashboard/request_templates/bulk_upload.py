"""``/app/{o}/templates/{id}/bulk``: a CSV of people, each row of which is to become a request."""

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt

from paraph.dashboard.decorators import member_page, scope, see_other, show
from paraph.dashboard.request_templates.found import template_of
from paraph.dashboard.uploads import FIELD, takes_small_file
from paraph.kernel.errors import DomainError
from paraph.request_templates.bulk.checking import check_rows
from paraph.request_templates.bulk.columns import find_columns, sample, unused_columns
from paraph.request_templates.bulk.csv_file import MOST_BYTES, MOST_ROWS, read_csv, write_csv
from paraph.request_templates.bulk.values import asked_of, find_values, sample_values
from paraph.request_templates.models import BulkSend, Template
from paraph.tenants.lifecycle import require_active
from paraph.tenants.limits import web_sends
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


class CsvForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=forms.FileInput(attrs={"accept": ".csv,.txt,text/csv"}),
        error_messages={"required": gettext_lazy("Choose a CSV file."), "empty": gettext_lazy("The file is empty.")},
    )


def _too_large(request: HttpRequest, member: Member) -> HttpResponse:
    content = {"sentence": _("The file is larger than 1 MiB.")}
    return show(request, "request_templates/too_large.html", content, member=member, status=422)


@csrf_exempt  # the upload makes the same check, once the body may be read
@member_page(Right.SEND)
@takes_small_file(MOST_BYTES, _too_large)
def bulk_upload(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    template = template_of(member, template_id)
    form = CsvForm(request.POST, request.FILES) if request.method == "POST" else CsvForm()
    if form.is_bound and form.is_valid():
        try:
            made = _checked(request, member, template, form.cleaned_data[FIELD])
            return see_other("bulk_send", member.organization_id, made.pk)
        except DomainError as refused:
            form.add_error(FIELD, refused.message)
    content = {
        "template": template,
        "form": form,
        "columns": _sample(template)[0],
        "most": MOST_ROWS,
        "quota": web_sends(member.organization_id, member.organization.plan),
    }
    status = 422 if form.errors else 200
    return show(request, "request_templates/bulk_upload.html", content, member=member, status=status)


@member_page(Right.SEND)
def sample_csv(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/templates/{id}/sample.csv``: the header that is wanted, with a row as an example."""
    columns, row = _sample(template_of(member, template_id))
    return csv_answer(write_csv(columns, [row]), "sample.csv")


def csv_answer(content: bytes, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)


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
        sentence = _("These columns are not used: %(columns)s.")
        messages.warning(request, sentence % {"columns": ", ".join(unused)})
    return made
