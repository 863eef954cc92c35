"""Templates made of drafts and of requests, and drafts made of templates."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from paraph.database.rows import insert
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftDocument, DraftField, DraftSigner, DraftStamp
from paraph.idempotency.held_key import Beside, nothing_beside
from paraph.request_templates.content import Content
from paraph.request_templates.models import Template, TemplateDocument, TemplateField, TemplateRole, TemplateStamp
from paraph.signature_requests.models import Role
from paraph.tenants.admin_log import log
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
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
        **content.options,
    )
    kinds = content.roles or [Role.SIGNER] * len(content.channels)
    roles = [
        TemplateRole(template=template, position=position, name=role_name, otp_channel=channel, role=kind)
        for position, (role_name, channel, kind) in enumerate(zip(names.roles, content.channels, kinds, strict=True))
    ]
    TemplateRole.objects.bulk_create(roles)
    for position, (document_id, stamps) in enumerate(content.documents):
        document = TemplateDocument.objects.create(
            template=template,
            document_id=document_id,
            position=position,
            given=content.given[position] if content.given else None,
        )
        TemplateStamp.objects.bulk_create(
            TemplateStamp(document=document, role=roles[signer], **rectangle) for signer, rectangle in stamps
        )
        TemplateField.objects.bulk_create(
            TemplateField(document=document, role=roles[signer], **field)
            for signer, field in (content.fields[position] if content.fields else ())
        )
    insert(beside(template.pk))
    log.note(
        scope.organization_id, actor, Action.TEMPLATE_SAVED, f"template {template.pk}", after={"name": names.template}
    )
    return template


@transaction.atomic
def begin_from(scope: TenantScope, template: Template, author: User, signers: Sequence[DraftSigner]) -> Draft:
    """Make a draft of the template, with these people in its roles, in their order."""
    draft = editing.begin(scope, author)
    for name, value in {**template.options(), "title": template.name, "tags_placed": True}.items():
        setattr(draft, name, value)
    draft.locale = template.locale or DEFAULT_LOCALE
    draft.save()
    roles = list(template.roles.all())
    for role, signer in zip(roles, signers, strict=True):
        signer.role = role.role
    editing.replace_signers(draft, signers)
    signer_of = {role.pk: signer for role, signer in zip(roles, signers, strict=True)}
    stamps: list[DraftStamp] = []
    fields: list[DraftField] = []
    for kept in template.documents.prefetch_related("stamps", "fields"):
        row = DraftDocument.objects.create(draft=draft, document_id=kept.document_id, position=kept.position)
        stamps += [
            DraftStamp(document=row, signer=signer_of[stamp.role_id], **stamp.rectangle())
            for stamp in kept.stamps.all()
        ]
        fields += [
            DraftField(document=row, signer=signer_of[field.role_id], content=field.content, **field.rectangle())
            for field in kept.fields.all()
        ]
    editing.replace_places(draft, stamps, fields)
    return draft


def rename(template: Template, names: Names) -> None:
    with transaction.atomic():
        template.name = names.template
        template.save(update_fields=["name"])
        for role, role_name in zip(template.roles.all(), names.roles, strict=True):
            role.name = role_name
            role.save(update_fields=["name"])
