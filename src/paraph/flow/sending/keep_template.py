"""Keep a template that an application gives."""

from dataclasses import replace

from django.db import IntegrityError

from paraph.idempotency.held_key import Beside
from paraph.request_templates.given import read
from paraph.request_templates.models import Template
from paraph.request_templates.saving import save_template
from paraph.tenants.admin_log import Actor
from paraph.tenants.scope import TenantScope


def keep_template(scope: TenantScope, value: object, locale: str, actor: Actor, beside: Beside) -> Template:
    """Keep the template that ``value``, that of the root key ``template``, describes. ``locale`` is the language that
    the caller named, if any; ``beside`` tells what else is inserted with it. Raises what
    :func:`paraph.request_templates.given.read` does."""
    names, content = read(scope, value, locale)
    content = replace(content, options=content.options | {"locale": locale})
    try:
        return save_template(scope, content, None, actor, names, beside=beside)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise
