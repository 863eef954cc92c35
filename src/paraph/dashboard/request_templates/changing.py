"""``/app/{o}/templates/{id}/…``: where what a template keeps is changed. ``roles``, and who always signs in them;
``options``, with what is written to signers; ``places``, in the editor of drafts. ``mail``: the invitation that it
sends."""

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, member_page, scope, see_other, show, told_in
from paraph.dashboard.drafts.options import OptionsForm
from paraph.dashboard.drafts.people import PersonForm, SignerForm
from paraph.dashboard.request_templates.templates import NamesForm, sendable_template_of
from paraph.drafts.models import Draft
from paraph.flow.sending.templates import sample_mail
from paraph.request_templates.models import Role, Template
from paraph.request_templates.saving import begin_places, changing, rename
from paraph.signature_requests.models import Channel
from paraph.tenants.members import Right
from paraph.tenants.models import Member
from paraph.words import DEFAULT_LOCALE

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
        with told_in(names):
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
        with told_in(form):
            with changing(scope(member), found.pk, actor(request, member), "options") as template:
                said.content = template.content
                form.apply(said)
                template.locale, template.subject, template.message = said.locale, said.subject, said.message
            return see_other("template", member.organization_id, found.pk)
    return show(request, "request_templates/options.html", {"template": found, "form": form}, member=member)


@member_page(Right.SEND, post_only=True, template_id=sendable_template_of)
def places(_request: HttpRequest, member: Member, found: Template) -> HttpResponse:
    """Open the editor of drafts, whose "Continue" has the template keep the places."""
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
