"""``/app/{o}/templates/{id}``: the template with people filled in becomes a draft that is ready for review."""

from typing import TypeAlias

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.dashboard.drafts.known_people import completed
from paraph.dashboard.drafts.signer_form import SignerForm
from paraph.dashboard.request_templates.found import template_of
from paraph.dashboard.request_templates.names_form import NamesForm
from paraph.drafts.earlier_signers import earlier_signers
from paraph.drafts.models import DraftSigner, Step
from paraph.flow.sending.templates import delete_template
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import Template
from paraph.request_templates.saving import begin_from, rename
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member
from paraph.tenants.rights import Right

People: TypeAlias = "forms.BaseFormSet[SignerForm]"
_FIELDS = ("first_name", "last_name", "email", "phone", "otp_channel")
_BULK_SENDS = 20


@member_page(Right.SEND)
def template(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    found = template_of(member, template_id)
    people = _people(request, member, found)
    if request.method == "POST" and people.is_valid():
        signers = [DraftSigner(**{name: form.cleaned_data[name] for name in _FIELDS}) for form in people]
        draft = begin_from(scope(member), found, member.user, signers)
        draft.step = Step.REVIEW
        draft.save(update_fields=["step"])
        return see_other("draft_review", member.organization_id, draft.pk)
    content = {
        "template": found,
        "people": people,
        "roles": list(zip(found.roles, people, strict=True)),
        "documents": found.documents.select_related("document"),
        "earlier": earlier_signers(scope(member)),
        "bulk_sends": found.bulk_sends.select_related("author").order_by("-created_at")[:_BULK_SENDS],
    }
    status = 422 if people.is_bound else 200
    return show(request, "request_templates/template.html", content, member=member, status=status)


@member_page(Right.SEND)
def names(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    """``…/templates/{id}/names``: other names for the template and its roles."""
    found = template_of(member, template_id)
    roles = [(_("Role %(number)d") % {"number": role.position + 1}, role.name) for role in found.roles]
    form = NamesForm(request.POST or None, roles=roles, initial={"name": found.name})
    if request.method == "POST" and form.is_valid():
        rename(found, form.names())
        return see_other("template", member.organization_id, found.pk)
    content = {"template": found, "form": form}
    status = 422 if form.errors else 200
    return show(request, "request_templates/names.html", content, member=member, status=status)


@member_page(Right.SEND)
def delete(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    """``…/templates/{id}/delete``: asks first. Requests that were sent from the template stay."""
    found = template_of(member, template_id)
    refused = ""
    if request.method == "POST":
        try:
            delete_template(scope(member), found.pk, actor(request, member))
        except DomainError as refusal:
            refused = refusal.message
        else:
            messages.success(request, _("The template “%(name)s” was deleted.") % {"name": found.name})
            return see_other("templates", member.organization_id)
    content = {"template": found, "refused": refused}
    status = 422 if refused else 200
    return show(request, "request_templates/delete.html", content, member=member, status=status)


def _people(request: HttpRequest, member: Member, found: Template) -> People:
    """Return a form for each role, all of which must be filled in."""
    initial = [{"otp_channel": role.otp_channel} for role in found.roles]
    count = len(initial)
    forms_of = forms.formset_factory(SignerForm, extra=0, min_num=count, max_num=count, absolute_max=count)
    content = completed(request.POST, earlier_signers(scope(member))) if request.method == "POST" else None
    if content is not None:  # as many as there are roles, whatever the browser says
        content["signer-TOTAL_FORMS"] = content["signer-INITIAL_FORMS"] = str(count)
    kwargs = {"sms": allowance(member.organization.plan).sms}
    return forms_of(content, initial=initial, prefix="signer", form_kwargs=kwargs)
