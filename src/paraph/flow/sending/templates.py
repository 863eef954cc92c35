"""Templates: kept and filled into requests as applications ask for it, and deleted with the files that they alone have
kept."""

from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from paraph.drafts.models import DraftDocument
from paraph.flow.housekeeping.delete_files import delete_unkept
from paraph.flow.messages.emails import invitation
from paraph.flow.sending.create import Sender, create
from paraph.idempotency.held_key import Beside
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.letters import EmailContent
from paraph.request_templates.filled import fill, path_of
from paraph.request_templates.input import read
from paraph.request_templates.models import BulkStatus, Template, TemplateDocument
from paraph.request_templates.saving import save_template
from paraph.signature_requests.input import UnnamedRequest
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.models import Role as Kind
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problems, restated
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.models import BrandingProfile, Environment, Organization, User
from paraph.tenants.scope import TenantScope, existing, scoped
from paraph.words import DEFAULT_LOCALE


def keep_template(scope: TenantScope, value: object, locale: str, actor: Actor, beside: Beside) -> Template:
    """Keep the template that ``value``, that of the root key ``template``, describes. ``locale`` is the language that
    the caller named, if any; ``beside`` tells what else is inserted with it. Raises what
    :func:`paraph.request_templates.input.read` does."""
    names, template = read(scope, value, locale)
    try:
        return save_template(scope, template, actor, names, beside=beside)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise


def send_template(
    scope: TenantScope, value: object, sender: Sender, locale: str, beside: Beside, *, template_id: int
) -> int:
    """Create the request that the caller's template and ``value``, that of the root key ``signature_request``,
    describe, and return its id; otherwise as :func:`paraph.flow.sending.create.create`. Raises ``not_found`` where
    there is no template."""
    template = existing(scoped(Template, scope).filter(pk=template_id), _("There is no such resource."))
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


@transaction.atomic
def delete_template(scope: TenantScope, template_id: int, actor: Actor) -> None:
    """Delete the template; do nothing where there is none. Raise ``conflict`` while a bulk send of it is under way."""
    template = scoped(Template, scope).select_for_update().filter(pk=template_id).first()
    if template is None:
        return
    if template.bulk_sends.filter(status=BulkStatus.SENDING).exists():
        raise DomainError("conflict", _("A bulk send of this template is in progress. Cancel it first."))
    documents = list(template.documents.values_list("document_id", flat=True))
    template.delete()
    # A file that no request ever used goes with the other unused uploads.
    used = RequestDocument.objects.filter(document__in=documents).values("document")
    deleted = delete_unkept(used, TemplateDocument, DraftDocument)
    before = {"name": template.name}
    note(scope.organization_id, actor, Action.TEMPLATE_DELETED, f"template {template_id}", before=before)
    for document in deleted:
        note(scope.organization_id, actor, Action.DOCUMENT_DELETED, f"document {document.pk}", before=document.facts())


def sample_mail(template: Template, organization: Organization, sender: User) -> EmailContent:
    """Write the invitation that a member's sending of the template mails to whoever is in its first role, who has the
    role's name where somebody else is to be named each time."""
    content, first = template.content, template.roles[0]
    person = first.person or {"first_name": first.name, "last_name": ""}
    profiles = BrandingProfile.objects.filter(organization=organization, deleted_at=None)
    request = SignatureRequest(
        organization=organization,
        sent_by=sender,
        locale=template.locale or DEFAULT_LOCALE,
        subject=template.subject,
        message=template.message,
        expires_at=clock.now() + timedelta(days=content["validity_days"]),
        branding_profile=profiles.filter(pk=content.get("branding_profile_id")).first(),
    )
    names = {name: person[name] for name in ("first_name", "last_name")}
    signer = Signer(request=request, role=first.role, locale=first.language, **names)
    ref, signs_all = str(first.position), first.role == Kind.APPROVER  # who approves is on all documents
    listed = {each["id"]: [given["signer_ref"] for given in each["signers"]] for each in content["documents"]}
    rows = template.documents.select_related("document")
    documents = [row.document for row in rows if signs_all or ref in listed[row.document_id]]
    return invitation(signer, f"{settings.PARAPH.public_url}/sign/…", documents)


def delete_oldest_templates(scope: TenantScope, actor: Actor) -> None:
    """Delete the oldest templates of a sandbox that has more than the operator's setting says. Raise as
    :func:`delete_template` does."""
    if scope.environment == Environment.SANDBOX:
        templates = scoped(Template, scope).order_by("pk")
        for template_id in oldest_beyond(scope, templates, settings.PARAPH.kept_templates, new=0):
            delete_template(scope, template_id, actor)
