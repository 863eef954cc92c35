"""Templates made from drafts and requests, and drafts made from templates.

A template keeps what holds for whoever signs next. It does not keep the values that fields were prefilled with, what an
application noted about the request, or the addresses that the application named for it: these belong to its people.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length
from django.utils.translation import gettext as _

from paraph.database.rows import insert
from paraph.drafts import editing
from paraph.drafts.content import creation_of, placed, signer_of
from paraph.drafts.models import Draft, DraftDocument, Json, Step
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import BulkStatus, Template, TemplateDocument
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.input import PERSON, TAKING_PART
from paraph.signature_requests.models import Channel, Field, Placement, SignatureRequest
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope, scoped
from paraph.words import DEFAULT_LOCALE

_OPTIONS = ("mode", "validity_days", "initials_required", "notify_signers_on_completion", "branding_profile_id")
_OF_DRAFTS = (*_OPTIONS, "send_email", "reminders", "decline_allowed")


class Names(NamedTuple):
    """The name of a template, and the names of its roles in their order."""

    template: str
    roles: Sequence[str]


def of_draft(draft: Draft) -> Template:
    """Return a template made from the draft, not saved, whose roles have no names yet."""
    creation = creation_of(draft.content)
    ref_of = {signer["ref"]: str(position) for position, signer in enumerate(creation["signers"])}
    documents = [
        {"id": each["id"], "signers": [_valueless(one, ref_of[one["signer_ref"]]) for one in each["signers"]]}
        for each in creation["documents"]
    ]
    signers = [{name: each[name] for name in TAKING_PART if name in each} for each in creation["signers"]]
    options = {name: draft.content[name] for name in _OF_DRAFTS if name in draft.content}
    return Template(
        locale=draft.locale,
        subject=draft.subject,
        message=draft.message,
        content={**options, "signers": signers, "documents": documents},
    )


def of_request(request: SignatureRequest, *, with_values: bool = False) -> Template:
    """Return a template made from the request, not saved, whose roles have no names yet. ``with_values``: whether its
    fields keep what the sender filled in."""
    signers = list(request.signers.all())
    documents = []
    for row in request.request_documents.prefetch_related("placements", "fields"):
        assigned = []
        for position, signer in enumerate(signers):
            stamps = [_place(each) for each in row.placements.all() if each.signer_id == signer.pk]
            fields = [_field(each, with_values) for each in row.fields.all() if each.signer_id == signer.pk]
            if stamps or fields or signer.is_approver:
                assigned.append({"signer_ref": str(position), "stamps": stamps, "fields": fields})
        documents.append({"id": row.document_id, "signers": assigned})
    options = {name: getattr(request, name) for name in _OPTIONS} | (
        {"decline_allowed": True} if request.decline_allowed else {}
    )
    roles = [
        {"otp_channel": Channel.EMAIL.value} | {name: own for name in TAKING_PART if (own := getattr(signer, name))}
        for signer in signers
    ]
    return Template(
        locale=request.locale,
        subject=request.subject,
        message=request.message,
        content={**options, "signers": roles, "documents": documents},
    )


def _valueless(assignment: Json, ref: str) -> Json:
    fields = [{name: each for name, each in field.items() if name != "value"} for field in assignment.get("fields", ())]
    return assignment | {"signer_ref": ref, "fields": fields}


def _place(at: Placement | Field) -> Json:
    value = {name: getattr(at, name) for name in ("page_number", "x", "y", "width", "height")}
    return {"type": "coordinates", "value": value}


def _field(asked: Field, with_value: bool) -> Json:
    """Return the field as the payload has it, without what equals the default."""
    content: Json = {"name": asked.name, "type": asked.type, "placement": _place(asked)}
    if asked.label != asked.name:
        content["label"] = asked.label
    if "required" in KINDS[asked.type].attributes:
        content["required"] = asked.required
    given = ("options", "max_length", "minimum", "maximum", *(["value"] if with_value else []))
    content |= {name: value for name in given if (value := getattr(asked, name)) is not None and value != ""}
    if asked.read_only:  # whoever sends the template says what stands there
        content["read_only"] = True
    if KINDS[asked.type].is_number:  # bounds are numbers in a payload, and texts in rows
        content |= {name: json.loads(content[name]) for name in ("minimum", "maximum") if name in content}
    return content | {"font_size": asked.font_size}


@transaction.atomic
def save_template(
    scope: TenantScope, template: Template, actor: Actor, names: Names, *, extra_rows: ExtraRows = lambda _: []
) -> Template:
    """Save a template that was made from a draft or a request of the caller, or that an application gave.
    ``extra_rows``: returns the rows to insert with the template, from its id."""
    template.organization_id, template.environment = scope.organization_id, scope.environment
    _name(template, names)
    template.save()
    TemplateDocument.objects.bulk_create(
        TemplateDocument(template=template, document_id=each["id"], position=position)
        for position, each in enumerate(template.content["documents"])
    )
    insert(extra_rows(template.pk))
    note(scope.organization_id, actor, Action.TEMPLATE_SAVED, f"template {template.pk}", after={"name": names.template})
    return template


@contextmanager
def changing(scope: TenantScope, template_id: int, actor: Actor, part: str) -> Iterator[Template]:
    """Lock a template of the caller, and save it with the changes made inside; ``part`` names what was changed in the
    activity log. Raise ``conflict`` while a bulk send of the template is under way."""
    with transaction.atomic():
        template = scoped(Template, scope).select_for_update().get(pk=template_id)
        if template.bulk_sends.filter(status=BulkStatus.SENDING).exists():
            raise DomainError("conflict", _("A bulk send of this template is in progress. Cancel it first."))
        yield template
        template.changed_at = clock.now()
        template.save()
        subject = f"template {template.pk}"
        note(scope.organization_id, actor, Action.TEMPLATE_CHANGED, subject, after={"changed": part})


def rename(template: Template, names: Names, people: Sequence[Json]) -> None:
    """Name the template and its roles, and set who always signs in each: nobody where ``people`` has an empty entry."""
    _name(template, names)
    for signer, person in zip(template.content["signers"], people, strict=True):
        for name in PERSON:
            signer.pop(name, None)
        signer |= {name: person[name] for name in PERSON if person.get(name)}


@transaction.atomic
def begin_places(scope: TenantScope, template_id: int, author: User) -> Draft:
    """Return the draft in which the places of a template of the caller are being changed, or begin one. Its signers
    have the names of the roles."""
    template = scoped(Template, scope).select_for_update().get(pk=template_id)
    if template.places is None:
        signers = [
            signer_of({"first_name": each.name, "role": each.role}, str(each.position)) for each in template.roles
        ]
        draft = begin_with(scope, template, author, signers)
        draft.of_template, draft.step = True, Step.PLACEMENTS
        draft.save(update_fields=["of_template", "step"])
        template.places = draft
        template.save(update_fields=["places"])
    return template.places


def keep_places(scope: TenantScope, draft: Draft, actor: Actor) -> Template:
    """Copy the places of the draft into its template, and delete the draft. Raise what :func:`changing` raises."""
    template_id = Template.objects.values_list("pk", flat=True).get(places=draft)
    with changing(scope, template_id, actor, "places") as template:
        chosen = ("documents", "initials_required")  # the editor asks for these
        template.content |= {name: draft.content[name] for name in chosen if name in draft.content}
        template.places = None
        draft.delete()
    return template


def _name(template: Template, names: Names) -> None:
    template.name = names.template
    template.content["signers"] = [
        {**signer, "ref": str(position), "name": name}
        for position, (name, signer) in enumerate(zip(names.roles, template.content["signers"], strict=True))
    ]


@transaction.atomic
def begin_from(scope: TenantScope, template: Template, author: User, people: Sequence[Mapping[str, Any]]) -> Draft:
    """Make a draft from the template, ready for review, with these people in its roles, in the order of the roles."""
    signers = [
        signer_of({"language": role.language, **person, "role": role.role}, str(role.position))
        for role, person in zip(template.roles, people, strict=True)
    ]
    return begin_with(scope, template, author, signers)


def begin_with(scope: TenantScope, template: Template, author: User, signers: Sequence[Json]) -> Draft:
    """Make a draft from the template, with its name as title and with these signers, whose refs are the positions of
    the roles."""
    given = template.content["documents"]
    documents = [{"id": each["id"], "signers": [placed(one) for one in each["signers"]]} for each in given]
    draft = editing.begin(scope, author, locale=template.locale or DEFAULT_LOCALE)
    draft.title, draft.subject, draft.message = template.name, template.subject, template.message
    draft.content = {**template.content, "signers": signers, "documents": documents}
    draft.tags_placed, draft.step = True, Step.REVIEW
    draft.save()
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=each["id"], position=position) for position, each in enumerate(documents)
    )
    return draft


def size_of_contents(ids: list[int]) -> int:
    """Return about how many bytes the contents of these templates take up in an answer."""
    rows = Template.objects.filter(pk__in=ids)
    size: int = rows.aggregate(size=Coalesce(Sum(Length(Cast("content", TextField()))), 0))["size"]
    return size
