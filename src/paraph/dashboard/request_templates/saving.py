"""``/app/{o}/drafts/{id}/template`` and ``/app/{o}/requests/{id}/template``: keeping a request as a template."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.dashboard.drafts.draft_page import draft_page
from paraph.dashboard.request_templates.templates import NamesForm
from paraph.drafts.models import Draft, Step
from paraph.drafts.refusals import refusals
from paraph.request_templates.models import Template
from paraph.request_templates.saving import of_draft, of_request, save_template
from paraph.signature_requests.models import Field, SignatureRequest
from paraph.signature_requests.names import full_name
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped


@draft_page(Step.REVIEW)
def save_draft(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Save a draft as a template, as it is stored, where it could be sent."""
    if found := refusals(scope(member), draft):
        content = {"draft": draft, "refusals": found}
        return show(request, "request_templates/unfinished.html", content, member=member, status=422)
    people = [signer.name(draft.locale) for signer in draft.signers]
    drops_values = any("value" in at.field for at in draft.places() if at.field)
    return _saved(request, member, of_draft(draft), draft.name, people, drops_values=drops_values)


@member_page(Right.SEND)
def save_request(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Save a production request as a template, where its files are still there."""
    sent = scoped(SignatureRequest, scope(member)).filter(pk=request_id, files_deleted_at=None).first()
    if sent is None or sent.request_documents.exclude(document__file_deleted_at=None).exists():
        raise Http404
    first = sent.request_documents.select_related("document").first()
    people = [full_name(signer.first_name, signer.last_name, sent.locale) for signer in sent.signers.all()]
    drops_values = Field.objects.filter(request_document__request=sent, value__isnull=False).exists()
    name = first.document.name if first else ""
    return _saved(request, member, of_request(sent), name, people, drops_values=drops_values)


def _saved(
    request: HttpRequest,
    member: Member,
    template: Template,
    name: str,
    people: list[str],
    *,
    drops_values: bool = False,
) -> HttpResponse:
    roles = [
        (_("Role of %(name)s") % {"name": person}, _("Signer %(number)d") % {"number": number})
        for number, person in enumerate(people, start=1)
    ]
    form = NamesForm(request.POST or None, roles=roles, initial={"name": name[:200]})
    if request.method == "POST" and form.is_valid():
        template.author = member.user
        save_template(scope(member), template, actor(request, member), form.names())
        return see_other("template", member.organization_id, template.pk)
    status = 422 if form.errors else 200
    return show(
        request,
        "request_templates/save.html",
        {"form": form, "drops_values": drops_values},
        member=member,
        status=status,
    )
