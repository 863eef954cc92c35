"""Create a signature request from a template, as an application fills it."""

from dataclasses import replace

from django.utils.translation import gettext as _

from paraph.flow.sending.create import Sender, create
from paraph.idempotency.held_key import Beside
from paraph.kernel.errors import DomainError
from paraph.request_templates.filled import fill, path_of
from paraph.request_templates.models import Template
from paraph.signature_requests.input import UnnamedRequest
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problems, restated
from paraph.tenants.scope import TenantScope, scoped


def send_template(
    scope: TenantScope, value: object, sender: Sender, locale: str, beside: Beside, *, template_id: int
) -> int:
    """Create the request that the caller's template and ``value``, that of the root key ``signature_request``,
    describe, and return its id; otherwise as :func:`paraph.flow.sending.create.create`. Raises ``not_found`` where
    there is no template."""
    template = scoped(Template, scope).filter(pk=template_id).first()
    if template is None:
        raise DomainError("not_found", _("There is no such resource."))
    problems = Problems()
    payload = fill(template, value, problems)
    try:
        if problems:
            make_plan(scope, payload, locale=locale or template.locale, shape=UnnamedRequest)
        else:
            writing = replace(sender, subject=template.subject, message=template.message)
            return create(scope, payload, writing, locale or template.locale, beside)
    except InvalidPayloadError as refused:
        raise restated(refused, path_of, problems) from refused
    raise InvalidPayloadError("validation_error", problems.message(), problems.named)
