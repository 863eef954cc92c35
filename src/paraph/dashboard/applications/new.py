"""``/app/{o}/applications/new``: a new application, whose key and secret are shown once."""

from django.http import HttpRequest, HttpResponse

from paraph.dashboard.applications.forms import NewApplicationForm, add_refusal
from paraph.dashboard.applications.secrets import show_secrets
from paraph.dashboard.decorators import actor, member_page, reauthenticated, show
from paraph.kernel.errors import DomainError
from paraph.tenants.applications import create_application
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


@member_page(Right.BUILD)
@reauthenticated
def new_application(request: HttpRequest, member: Member) -> HttpResponse:
    form = NewApplicationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            given["webhook_url"] = given["webhook_url"].strip()
            made = create_application(member.organization_id, actor(request, member), **given)
            return show_secrets(request, member, made)
        except DomainError as refusal:
            if refusal.code == "payment_required":
                form.add_error("environment", refusal.message)
            else:
                add_refusal(form, refusal)
    status = 422 if form.errors else 200
    return show(request, "applications/new.html", {"form": form}, member=member, status=status)
