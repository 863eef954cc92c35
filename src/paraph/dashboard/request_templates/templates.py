"""``/app/{o}/templates``: requests to be sent again. ``…/{id}`` with people filled in becomes a draft that is ready for
review; ``…/{id}/delete``. Drafts and requests are saved as templates."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from django import forms
from django.contrib import messages
from django.db.models import Count, F
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph import words
from paraph.dashboard.branding_preview import PARENT_POLICY
from paraph.dashboard.decorators import actor, member_page, own, scope, see_other, show, shown_scope, told_in
from paraph.dashboard.drafts.draft_page import draft_page
from paraph.dashboard.drafts.options import OptionsForm
from paraph.dashboard.drafts.people import SignerForm, completed, earlier_signers
from paraph.drafts.content import placed
from paraph.drafts.models import Draft, Step
from paraph.drafts.refusals import refusals
from paraph.flow.sending.templates import delete_template, sample_mail
from paraph.request_templates.bulk.columns import folded
from paraph.request_templates.models import Role, Template
from paraph.request_templates.saving import Names, begin_from, of_draft, of_request, save_template
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import Field, SignatureRequest
from paraph.tenants.admin_log import Action
from paraph.tenants.members import Right
from paraph.tenants.models import Activity, Environment, Member
from paraph.tenants.scope import branding_profiles, scoped

People: TypeAlias = "forms.BaseFormSet[SignerForm]"
_AT_ONCE = 500
_BULK_SENDS = 20


class NamesForm(forms.Form):
    """``roles``: for each role the label of its field and its name so far."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)

    def __init__(self, *arguments: Any, roles: Sequence[tuple[str, str]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._fields = [f"role-{index}" for index in range(len(roles))]
        for field, (label, name) in zip(self._fields, roles, strict=True):
            self.fields[field] = forms.CharField(label=label, max_length=100, initial=name)

    def clean(self) -> dict[str, Any]:
        """Refuse a name that two have: the columns of a CSV name the roles."""
        seen: set[str] = set()
        for field in self._fields:
            name = folded(self.cleaned_data.get(field, ""))
            if name in seen and field not in self.errors:
                self.add_error(field, _("Another role already has this name."))
            elif not name and field not in self.errors:
                self.add_error(field, _("The name of a role must contain a letter or a number."))
            seen.add(name)
        return self.cleaned_data

    def names(self) -> Names:
        return Names(self.cleaned_data["name"], [self.cleaned_data[field] for field in self._fields])


class SavingForm(NamesForm):
    """With what is written to signers, which may name those of the request."""

    subject = OptionsForm.base_fields["subject"]
    message = OptionsForm.base_fields["message"]


@draft_page(Step.REVIEW)
def save_draft(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """``/app/{o}/drafts/{id}/template``: save a draft as a template, as it is stored, where it could be sent."""
    if found := refusals(scope(member), draft):
        content = {"draft": draft, "refusals": found}
        return show(request, "request_templates/unfinished.html", content, member=member, status=422)
    people = [signer.name(draft.locale) for signer in draft.signers]
    drops_values = any("value" in at.field for at in draft.places() if at.field)
    return _saved(request, member, of_draft(draft), draft.name, people, drops_values=drops_values)


@member_page(Right.SEND)
def save_request(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """``/app/{o}/requests/{id}/template``: save a production request as a template, where its files are still there."""
    sent = scoped(SignatureRequest, scope(member)).filter(pk=request_id, files_deleted_at=None).first()
    if sent is None or sent.request_documents.exclude(document__file_deleted_at=None).exists():
        raise Http404
    first = sent.request_documents.select_related("document").first()
    people = [full_name(signer.first_name, signer.last_name, sent.locale) for signer in sent.signers.all()]
    drops_values = Field.objects.filter(request_document__request=sent, value__isnull=False).exists()
    name = first.document.name if first else ""
    return _saved(request, member, of_request(sent), name, people, drops_values=drops_values)


def _saved(
    request: HttpRequest, member: Member, template: Template, name: str, people: list[str], *, drops_values: bool
) -> HttpResponse:
    roles = [
        (_("Role of %(name)s") % {"name": person}, _("Signer %(number)d") % {"number": number})
        for number, person in enumerate(people, start=1)
    ]
    said = {"subject": template.subject, "message": template.message}
    form = SavingForm(request.POST or None, roles=roles, initial={"name": name[:200], **said})
    if request.method == "POST" and form.is_valid():
        template.author = member.user
        template.subject, template.message = form.cleaned_data["subject"], form.cleaned_data["message"]
        save_template(scope(member), template, actor(request, member), form.names())
        return see_other("template", member.organization_id, template.pk)
    return show(request, "request_templates/save.html", {"form": form, "drops_values": drops_values}, member=member)


def template_of(member: Member, template_id: int) -> Template:
    """Return the member's template of either environment that they may see. Raise ``Http404`` where there is none."""
    return own(Template, member, template_id)


def sendable_template_of(member: Member, template_id: int) -> Template:
    """Return the same, where it is of production: those of the sandbox are sent through the API."""
    template = template_of(member, template_id)
    if template.environment != Environment.PRODUCTION:
        raise Http404
    return template


@member_page(Right.SEND)
def templates(request: HttpRequest, member: Member) -> HttpResponse:
    mine = scoped(Template, shown_scope(request, member)).defer("content").order_by("name", "pk")
    rows = mine.annotate(document_count=Count("documents"), roles_of=F("content__signers"))[:_AT_ONCE]
    return show(request, "request_templates/listing.html", {"rows": rows}, member=member)


@member_page(Right.SEND)
def template(request: HttpRequest, member: Member, template_id: int) -> HttpResponse:
    found = (sendable_template_of if request.method == "POST" else template_of)(member, template_id)
    people = _people(request, member, found)
    rows = iter(people)
    roles = [(role, None if role.person else next(rows)) for role in found.roles]
    if request.method == "POST" and people.is_valid():
        filled = [
            form.cleaned_data if form else {**role.person, "otp_channel": role.otp_channel} for role, form in roles
        ]
        draft = begin_from(scope(member), found, member.user, filled)
        return see_other("draft_review", member.organization_id, draft.pk)
    content = {
        "template": found,
        "people": people,
        "roles": roles,
        "left": _left(found),
        "mail": sample_mail(found, member.organization, member.user),
        "profile": branding_profiles(scope(member)).filter(pk=found.content.get("branding_profile_id")).first(),
        "language": words.language_name(found.locale or words.DEFAULT_LOCALE),
        "documents": _documents(found),
        "earlier": earlier_signers(scope(member)),
        "bulk_sends": found.bulk_sends.select_related("author").order_by("-created_at")[:_BULK_SENDS],
    }
    page = "request_templates/template.html"
    return with_mail(show(request, page, content, member=member, environment=found.environment))


def with_mail(response: HttpResponse) -> HttpResponse:
    """Let the page show in a frame the mail that is sent."""
    response["Content-Security-Policy"] = PARENT_POLICY
    return response


def _left(found: Template) -> list[Role]:
    """Return the roles whose person was a member of the organization, and is none any more."""
    addresses = {role.person["email"].lower(): role for role in found.roles if role.person}
    members = Member.objects.filter(organization=found.organization_id, user__email__in=addresses)
    gone = Activity.objects.filter(
        organization_id=found.organization_id,
        action__in=[Action.MEMBER_REMOVED, Action.MEMBER_LEFT],
        subject__in=addresses.keys() - set(members.values_list("user__email", flat=True)),
    )
    return [addresses[address] for address in sorted(set(gone.values_list("subject", flat=True)))]


def _documents(found: Template) -> list[dict[str, Any]]:
    """Return each document with who signs where, and what they fill in."""
    placed_on = {each["id"]: [placed(one) for one in each["signers"]] for each in found.content["documents"]}
    roles = {str(role.position): role for role in found.roles}
    return [
        {
            "document": row.document,
            "places": [
                {
                    "role": roles[one["signer_ref"]],
                    "pages": ", ".join(dict.fromkeys(str(each["value"]["page_number"]) for each in one["stamps"])),
                    "fields": ", ".join(each.get("label") or each["name"] for each in one["fields"]),
                }
                for one in placed_on[row.document_id]
                if one["stamps"] or one["fields"]
            ],
        }
        for row in found.documents.select_related("document")
    ]


@member_page(Right.SEND, template_id=template_of)
def delete(request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    """``…/templates/{id}/delete``: asks first. Requests that were sent from the template stay."""
    form = forms.Form(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with told_in(form):
            delete_template(scope(member, found.environment), found.pk, actor(request, member))
            messages.success(request, _("The template “%(name)s” was deleted.") % {"name": found.name})
            return see_other("templates", member.organization_id)
    return show(request, "request_templates/delete.html", {"template": found, "form": form}, member=member)


def _people(request: HttpRequest, member: Member, found: Template) -> People:
    """Return a form for each role in which somebody is to be named, all of which must be filled in."""
    initial = [{"otp_channel": role.otp_channel} for role in found.roles if not role.person]
    count = len(initial)
    forms_of = forms.formset_factory(SignerForm, extra=0, min_num=count, max_num=count, absolute_max=count)
    content = completed(request.POST, earlier_signers(scope(member))) if request.method == "POST" else None
    if content is not None:  # as many as there are roles, whatever the browser says
        content["signer-TOTAL_FORMS"] = content["signer-INITIAL_FORMS"] = str(count)
    return forms_of(content, initial=initial, prefix="signer", form_kwargs={"plan": member.organization.plan})
