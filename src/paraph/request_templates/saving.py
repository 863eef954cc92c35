"""Templates made of drafts and of requests, and drafts made of templates."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import transaction

from paraph.database.rows import insert
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftDocument, DraftField, DraftSigner, DraftStamp
from paraph.idempotency.held_key import Beside, nothing_beside
from paraph.request_templates.content import Content
from paraph.request_templates.models import Template, TemplateDocument
from paraph.request_templates.payload import asked, placed
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope
from paraph.words import DEFAULT_LOCALE


class Names(NamedTuple):
    """Of a template and its roles, in their order."""

    template: str
    roles: Sequence[str]


@transaction.atomic
def save_template(
    scope: TenantScope,
    content: Content,
    author: User | None,
    actor: Actor,
    names: Names,
    *,
    beside: Beside = nothing_beside,
) -> Template:
    """Keep what was read of a draft or a request of the caller, or what an application gave. ``beside`` tells what else
    is inserted with it."""
    template = Template.objects.create(
        organization_id=scope.organization_id,
        environment=scope.environment,
        author=author,
        name=names.template,
        request=_request(content, names.roles),
        **content.options,
    )
    TemplateDocument.objects.bulk_create(
        TemplateDocument(template=template, document_id=each["id"], position=position)
        for position, each in enumerate(content.documents)
    )
    insert(beside(template.pk))
    note(scope.organization_id, actor, Action.TEMPLATE_SAVED, f"template {template.pk}", after={"name": names.template})
    return template


@transaction.atomic
def begin_from(scope: TenantScope, template: Template, author: User, signers: Sequence[DraftSigner]) -> Draft:
    """Make a draft of the template, with these people in its roles, in their order."""
    draft = editing.begin(scope, author)
    for name, value in {**template.options(), "title": template.name, "tags_placed": True}.items():
        setattr(draft, name, value)
    draft.locale = template.locale or DEFAULT_LOCALE
    draft.save()
    for role, signer in zip(template.roles, signers, strict=True):
        signer.role = role.role
    editing.replace_signers(draft, signers)
    stamps: list[DraftStamp] = []
    fields: list[DraftField] = []
    for position, document in enumerate(template.request["documents"]):
        row = DraftDocument.objects.create(draft=draft, document_id=document["id"], position=position)
        for each in document["signers"]:
            whose: dict[str, Any] = {"document": row, "signer": signers[int(each["signer_ref"])]}
            stamps += [DraftStamp(**whose, **stamp["value"]) for stamp in placed(each.get("stamps", ()))]
            for field in asked(each.get("fields", ())):
                place = field.pop("placement")["value"]
                fields.append(DraftField(**whose, content=field, **place))
    editing.replace_places(draft, stamps, fields)
    return draft


def rename(template: Template, names: Names) -> None:
    template.name = names.template
    for signer, name in zip(template.request["signers"], names.roles, strict=True):
        signer["name"] = name
    template.save(update_fields=["name", "request"])


def _request(content: Content, names: Sequence[str]) -> dict[str, Any]:
    signers = [
        {"ref": str(position), "name": name, **signer}
        for position, (name, signer) in enumerate(zip(names, content.signers, strict=True))
    ]
    return {"signers": signers, "documents": content.documents}
