"""``/app/{o}/templates``: requests to be sent again. ``…/{id}``, with people filled in, becomes a draft, ready for
review; ``…/{id}/roles``, ``options``, with what is written to signers, and ``places``, in the editor of drafts, change
a template; ``…/{id}/mail``: its invitation; ``…/{id}/delete``. Drafts and requests are saved as templates."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import unescape
from typing import Any, TypeAlias

from django import forms
from django.db.models import Count, F
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph import words
from paraph.dashboard.branding import PARENT_POLICY
from paraph.dashboard.decorators import actor, done, member_page, own, refusals_in, scope, see_other, show, shown_scope
from paraph.dashboard.drafts.drafts import draft_page
from paraph.dashboard.drafts.options import OptionsForm
from paraph.dashboard.drafts.signers_step import PersonForm, SignerForm, completed, earlier_signers
from paraph.drafts.content import placed
from paraph.drafts.models import Draft, Step
from paraph.drafts.review import refusals
from paraph.flow.sending.templates import delete_template, sample_mail
from paraph.request_templates.csv_file import folded
from paraph.request_templates.models import Role, Template
from paraph.request_templates.saving import (
    Names,
    begin_from,
    begin_places,
    changing,
    of_draft,
    of_request,
    rename,
    save_template,
)
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import Channel, Field, SignatureRequest
from paraph.tenants.admin_log import Action
from paraph.tenants.members import Right
from paraph.tenants.models import Activity, Environment, Member
from paraph.tenants.scope import branding_profiles, scoped
from paraph.words import DEFAULT_LOCALE

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
        """Refuse a name that two roles share: the columns of a CSV name the roles."""
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
    """The names, and what is written to signers, which may mention the people of the request."""

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
    """Return a production template, or raise ``Http404``: those of the sandbox are sent through the API."""
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
    """Let the page show the mail that is sent, in a frame."""
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
    """``…/templates/{id}/delete``: ask first. Requests that were sent from the template stay."""
    form = forms.Form(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            delete_template(scope(member, found.environment), found.pk, actor(request, member))
            sentence = _("The template “%(name)s” was deleted.") % {"name": found.name}
            return done(request, sentence, "templates", member.organization_id)
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


_MAIL_POLICY = "sandbox; default-src 'none'; img-src data:; frame-ancestors 'self'; base-uri 'none'; style-src {styles}"
_STYLES = re.compile(r'style="([^"]*)"|<style[^>]*>(.*?)</style>', re.DOTALL)


class AlwaysForm(PersonForm):
    """Who always signs in a role; blank where somebody is named each time."""

    use_required_attribute = False
    phone = SignerForm.base_fields["phone"]
    clean_phone = SignerForm.clean_phone

    def person(self) -> dict[str, str]:
        return self.cleaned_data if self.has_changed() else {}


@member_page(Right.SEND, template_id=sendable_template_of)
def roles(request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    labels = [(_("Role %(number)d") % {"number": role.position + 1}, role.name) for role in found.roles]
    names = NamesForm(request.POST or None, roles=labels, initial={"name": found.name})
    people = [_always(request, role) for role in found.roles]
    if request.method == "POST" and all([names.is_valid(), *(form.is_valid() for form in people)]):
        with refusals_in(names):
            with changing(scope(member), found.pk, actor(request, member), "roles") as template:
                rename(template, names.names(), [form.person() for form in people])
            return see_other("template", member.organization_id, found.pk)
    rows = [(role, names[f"role-{role.position}"], form) for role, form in zip(found.roles, people, strict=True)]
    content = {"template": found, "form": names, "rows": rows, "people": people}
    status = 422 if names.errors or any(form.errors for form in people) else 200
    return show(request, "request_templates/roles.html", content, member=member, status=status)


def _always(request: HttpRequest, role: Role) -> AlwaysForm:
    prefix = f"person-{role.position}"
    if request.method != "POST":
        return AlwaysForm(initial=role.person, prefix=prefix, empty_permitted=True)
    form = AlwaysForm(request.POST, prefix=prefix, empty_permitted=True)
    if form.is_valid() and form.person() and role.otp_channel == Channel.SMS and not form.cleaned_data["phone"]:
        form.add_error("phone", _("A code by SMS needs a phone number."))
    return form


@member_page(Right.SEND, template_id=sendable_template_of)
def options(request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    said = Draft(content=found.content, locale=found.locale or DEFAULT_LOCALE)
    said.subject, said.message = found.subject, found.message
    form = OptionsForm(request.POST or None, draft=said, member=member)
    del form.fields["title"]
    form.order_fields(["subject", "message"])
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            with changing(scope(member), found.pk, actor(request, member), "options") as template:
                said.content = template.content
                form.apply(said)
                template.locale, template.subject, template.message = said.locale, said.subject, said.message
            return see_other("template", member.organization_id, found.pk)
    return show(request, "request_templates/options.html", {"template": found, "form": form}, member=member)


@member_page(Right.SEND, post_only=True, template_id=sendable_template_of)
def places(_request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    """Open the editor of drafts, whose "Continue" saves the places in the template."""
    return see_other("draft_places", member.organization_id, begin_places(scope(member), found.pk, member.user).pk)


@member_page(Right.SEND, template_id=sendable_template_of)
def mail(_request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    """``…/mail``: the real mail, for the frame of pages that say what is sent. Its policy names the very styles that
    stand in the mail; nothing runs, loads or leads anywhere."""
    written = sample_mail(found, member.organization, member.user)
    logo = f"data:image/png;base64,{b64encode(written.logo).decode()}"
    response = HttpResponse(written.html.replace("cid:logo", logo))
    styles = {b64encode(sha256(unescape("".join(each)).encode()).digest()) for each in _STYLES.findall(written.html)}
    hashes = " ".join(["'unsafe-hashes'", *sorted(f"'sha256-{each.decode()}'" for each in styles)])
    response["Content-Security-Policy"] = _MAIL_POLICY.format(styles=hashes)
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
