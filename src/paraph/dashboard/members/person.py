"""``/app/{o}/members/{id}``: one member, and a change of their role. ``…/remove`` and ``…/transfer``; ``members/leave``
for oneself."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other, show
from paraph.dashboard.members.listing import listing
from paraph.dashboard.members.rows import MemberRow, member_rows
from paraph.kernel.errors import DomainError
from paraph.tenants.members import change_role, remove_member, transfer_ownership
from paraph.tenants.models import Member, Role
from paraph.tenants.rights import Right, grantable


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"))

    def __init__(self, *args: Any, own_role: str, **more: Any) -> None:
        super().__init__(*args, **more)
        choice = self.fields["role"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(role.value, role.label) for role in grantable(own_role)]


@member_page(Right.INVITE)
@reauthenticated
def person(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    row = _row(member, member_id)
    form = RoleForm(request.POST or None, own_role=member.role, initial={"role": row.member.role})
    if request.method == "POST" and form.is_valid():
        try:
            change_role(member.organization_id, actor(request, member), member_id, form.cleaned_data["role"])
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("The role was changed."))
            return see_other("members", member.organization_id)
    content = {"row": row, "form": form, "may_transfer": member.role == Role.OWNER and not row.is_self}
    return show(request, "members/person.html", content, member=member, status=422 if form.errors else 200)


@member_page(Right.INVITE)
@reauthenticated
def remove(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    if request.method == "POST":
        try:
            remove_member(member.organization_id, actor(request, member), member_id)
        except DomainError as refusal:
            return listing(request, member, refusal=refusal.message)
        if member_id == member.pk:
            return see_other("organizations")
        messages.success(request, _("The member was removed and their invitations were withdrawn."))
    return see_other("members", member.organization_id)


@member_page(Right.RULE)
@reauthenticated
def transfer(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    if request.method == "POST":
        try:
            transfer_ownership(member.organization_id, actor(request, member), member_id)
        except DomainError as refusal:
            return listing(request, member, refusal=refusal.message)
        messages.success(request, _("Ownership was transferred; you are now an admin."))
    return see_other("members", member.organization_id)


@member_page(Right.SEE)
@reauthenticated
def leave(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method == "POST":
        try:
            remove_member(member.organization_id, actor(request, member), member.pk)
        except DomainError as refusal:
            return listing(request, member, refusal=refusal.message)
        return see_other("organizations")
    return see_other("members", member.organization_id)


def _row(viewer: Member, member_id: int) -> MemberRow:
    row = next((row for row in member_rows(viewer) if row.member.pk == member_id), None)
    if row is None:
        raise Http404
    return row
