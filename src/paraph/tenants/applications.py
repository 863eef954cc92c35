"""Applications, their API keys and webhook secrets: made, changed, rotated, revoked (rules 2.6, 5.1)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.limits import allowance
from paraph.tenants.models import ActorKind, ApiKey, Application, Environment, Organization
from paraph.tenants.organizations import checked_name, locked_organization, require_choice
from paraph.tenants.scope import existing

LONGEST_OVERLAP = timedelta(days=90)


@dataclass(frozen=True)
class NewApplication:
    """``api_key`` (64 hexadecimal digits) and ``webhook_secret`` exist here alone: shown once, never stored."""

    application: Application
    api_key: str
    webhook_secret: str


@dataclass(frozen=True)
class Rotated(NewApplication):
    """``ends_at``: until when the earlier key and the earlier secret stay valid."""

    ends_at: datetime


@transaction.atomic
def create_application(
    organization_id: int,
    actor: Actor,
    *,
    environment: str,
    name: str,
    webhook_url: str = "",
    origins: Sequence[str] = (),
) -> NewApplication:
    """Make an application with its first key. Raise ``DomainError``: ``not_found``, ``validation_error``, and
    ``payment_required`` where a member asks for production on a plan without it (rule 5.1). An operator may
    make one ahead of a change of the plan; until then its calls are answered with 402."""
    organization = locked_organization(organization_id)
    beyond_plan = environment == Environment.PRODUCTION and not allowance(organization.plan).production
    if actor.kind == ActorKind.MEMBER and beyond_plan:
        message = _("Production keys require the Pro or Enterprise plan. Your organization is on the %(plan)s plan.")
        raise DomainError("payment_required", message % {"plan": organization.get_plan_display()})
    made = new_application(organization, environment, name, webhook_url, origins)
    _note(actor, Action.APPLICATION_CREATED, made.application, **_settings(made.application))
    return made


@transaction.atomic
def new_application(
    organization: Organization, environment: str, name: str, webhook_url: str = "", origins: Sequence[str] = ()
) -> NewApplication:
    """Make an application with its first key, without an entry in the activity log, as on the first start.
    ``origins``: the sites that may show its signing pages in a frame, any if empty. Raise
    ``DomainError("validation_error", …)``."""
    require_choice("environment", environment, Environment.values)
    api_key, secret = tokens.random_hex(32), tokens.random_hex(32)
    application = Application.objects.create(
        organization=organization,
        environment=environment,
        name=checked_name(name),
        webhook_url=_web_address(webhook_url),
        frame_origins=" ".join(frame_origins(origins)),
        webhook_secret_encrypted=encrypted_secret(secret),
    )
    ApiKey.objects.create(application=application, sha256=tokens.sha256(api_key.encode()))
    return NewApplication(application, api_key, secret)


@transaction.atomic
def update_application(
    actor: Actor,
    application: Application,
    origins: Sequence[str] | None = None,
    *,
    name: str | None = None,
    webhook_url: str | None = None,
) -> Application:
    """Change what is not None, and note the differences. ``origins`` replace the sites that may show the application's
    signing pages in a frame. An empty ``webhook_url`` ends its webhooks; earlier deliveries keep their address. Raise
    ``DomainError``: ``not_found``, ``validation_error``."""
    locked_organization(application.organization_id)
    application = existing_application(application.pk)
    before = _settings(application)
    if origins is not None:
        application.frame_origins = " ".join(frame_origins(origins))
    if name is not None:
        application.name = checked_name(name)
    if webhook_url is not None:
        application.webhook_url = _web_address(webhook_url)
    after = _settings(application)
    differing = [field for field in after if after[field] != before[field]]
    if differing:
        application.save(update_fields=differing)
        old, new = ({field: facts[field] for field in differing} for facts in (before, after))
        _note(actor, Action.APPLICATION_UPDATED, application, old, **new)
    return application


@transaction.atomic
def rotate_application(actor: Actor, application: Application, overlap: timedelta) -> Rotated:
    """Give the application a new key, which is valid at once, and a new secret, which alone signs its webhooks after
    the ``overlap``. Until then the earlier keys stay valid, and webhooks carry the signatures of both secrets. Rotating
    again during an overlap ends it: the key made last and its secret become the earlier ones. Raise ``DomainError``:
    ``not_found``, ``validation_error``."""
    locked_organization(application.organization_id)
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise DomainError("validation_error", f"The overlap must be at most {LONGEST_OVERLAP.days} days.")
    api_key, secret, now = tokens.random_hex(32), tokens.random_hex(32), clock.now()
    application = Application.objects.select_for_update().get(pk=application.pk)
    if application.next_webhook_secret_encrypted is not None:
        application.webhook_secret_encrypted = application.next_webhook_secret_encrypted
    keys = ApiKey.objects.filter(application=application)
    keys.filter(revoked_at__gt=now).update(revoked_at=now)  # keys whose overlap has not ended yet
    keys.filter(revoked_at=None).update(revoked_at=now + overlap)
    ApiKey.objects.create(application=application, sha256=tokens.sha256(api_key.encode()))
    application.next_webhook_secret_encrypted = encrypted_secret(secret)
    application.next_webhook_secret_at = now + overlap
    application.save(
        update_fields=["webhook_secret_encrypted", "next_webhook_secret_encrypted", "next_webhook_secret_at"]
    )
    _note(actor, Action.APPLICATION_ROTATED, application, overlap_ends_at=clock.iso(now + overlap))
    return Rotated(application, api_key, secret, now + overlap)


@transaction.atomic
def revoke_application(actor: Actor, application: Application) -> int:
    """Reject all keys of the application from now on; return how many were live. Raise
    ``DomainError("not_found", …)``."""
    locked_organization(application.organization_id)
    count = revoke_keys(ApiKey.objects.filter(application=application))
    _note(actor, Action.APPLICATION_REVOKED, application, revoked_keys=count)
    return count


@transaction.atomic
def revoke_key(actor: Actor, key: ApiKey) -> ApiKey:
    """Reject one key from now on. Raise ``DomainError("not_found", …)``."""
    locked_organization(key.application.organization_id)
    revoke_keys(ApiKey.objects.filter(pk=key.pk))
    key.refresh_from_db(fields=["revoked_at"])
    _note(actor, Action.KEY_REVOKED, key.application, key_id=key.pk)
    return key


def revoke_keys(keys: QuerySet[ApiKey]) -> int:
    """Reject the keys from now on, including those that would end later; return how many were live."""
    now = clock.now()
    return keys.filter(Q(revoked_at=None) | Q(revoked_at__gt=now)).update(revoked_at=now)


def existing_application(application_id: int) -> Application:
    """Return the application. Raise ``DomainError("not_found", …)`` where there is none, or its organization is
    deleted."""
    rows = Application.objects.filter(pk=application_id, organization__deleted_at=None)
    return existing(rows, f"There is no application {application_id}.")


def existing_key(key_id: int) -> ApiKey:
    """Return the key. Raise ``DomainError("not_found", …)`` where there is none, or its organization is deleted."""
    keys = ApiKey.objects.select_related("application").filter(application__organization__deleted_at=None)
    return existing(keys.filter(pk=key_id), f"There is no key {key_id}.")


def _web_address(url: str) -> str:
    if url:
        check_url(url, name="webhook_url")
    return url


def _settings(application: Application) -> dict[str, Any]:
    origins = application.frame_origins.split()
    fields = {"environment": application.environment, "name": application.name, "webhook_url": application.webhook_url}
    return {**fields, "frame_origins": origins}


def _note(actor: Actor, action: Action, application: Application, before: Any = None, **after: Any) -> None:
    about = {"application_id": application.pk, **after}
    note(application.organization_id, actor, action, application.name, before=before, after=about)


_MOST = 20
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*", re.ASCII)
_THIS_MACHINE = ("localhost", "127.0.0.1")


def frame_origins(given: Iterable[str]) -> list[str]:
    """Return the origins as browsers write them, each once. Raise ``DomainError("validation_error", …)``."""
    origins = list(dict.fromkeys(_origin(text) for text in given))
    if len(origins) > _MOST:
        raise DomainError("validation_error", f"frame_origins may name at most {_MOST} sites, not {len(origins)}.")
    return origins


def _origin(text: str) -> str:
    """Return the origin as browsers write it. Wildcards are refused, since a message to the frame's site needs its full
    name, and so is every character that has a special meaning in the page's policy."""
    bare = text.removesuffix("/")
    try:
        url = check_url(bare, name="frame_origin")
    except DomainError as problem:
        raise _refused(text) from problem
    host = url.raw_host.decode("ascii")
    is_secure = url.scheme == "https" or host in _THIS_MACHINE
    if not is_secure or not _HOST.fullmatch(host) or bare.count("/") > 2 or "?" in bare or "#" in bare:
        raise _refused(text)
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


def _refused(text: str) -> DomainError:
    sentence = "is not the origin of a site, such as https://example.com (http only for localhost)"
    return DomainError("validation_error", f"frame_origin {text[:80]!r} {sentence}.")


WEBHOOK_SECRETS = "webhook-secrets"
"""The purpose of the key that encrypts webhook secrets."""


def encrypted_secret(secret: str) -> bytes:
    encrypted: bytes = settings.SECRETS.encrypt(WEBHOOK_SECRETS, secret.encode())
    return encrypted


def webhook_secret(encrypted: bytes | memoryview) -> str:
    plain: bytes = settings.SECRETS.decrypt(WEBHOOK_SECRETS, bytes(encrypted))
    return plain.decode()


def webhook_secrets(
    encrypted: bytes | memoryview, following: bytes | memoryview | None, following_at: datetime | None
) -> list[str]:
    """Return the secrets that a webhook is signed with now, from the columns of an application: one, or during an
    overlap the current one and the following one."""
    if following is None or following_at is None:
        return [webhook_secret(encrypted)]
    if clock.now() >= following_at:
        return [webhook_secret(following)]
    return [webhook_secret(encrypted), webhook_secret(following)]
