"""The member's templates and bulk sends."""

from django.http import Http404

from paraph.dashboard.decorators import scope
from paraph.request_templates.models import BulkSend, Template
from paraph.tenants.models import Member
from paraph.tenants.scope import scoped


def template_of(member: Member, template_id: int) -> Template:
    template = scoped(Template, scope(member)).filter(pk=template_id).first()
    if template is None:
        raise Http404
    return template


def bulk_send_of(member: Member, bulk_send_id: int) -> BulkSend:
    bulk_sends = scoped(BulkSend, scope(member)).select_related("template", "author")
    bulk_send = bulk_sends.filter(pk=bulk_send_id).first()
    if bulk_send is None:
        raise Http404
    return bulk_send
