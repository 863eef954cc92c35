"""Making organizations and what belongs to them (specification 2.4, 2.6, 5.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q, QuerySet

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.outbound.url import check_url
from paraph.tenants.frame_origins import frame_origins
from paraph.tenants.models import (
    ApiKey,
    Application,
    BrandingProfile,
    DeletedBrandingProfile,
    Environment,
    Organization,
    Plan,
)
from paraph.tenants.plans import allowance

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}", re.ASCII)
_LONGEST_NAME = 200
UNNAMED = "First organization"
"""What the organization of a first start is called until somebody names it."""

WEBHOOK_SECRETS = "webhook-secrets"
"""The purpose of the key that webhook secrets are encrypted with."""


@dataclass(frozen=True)
class NewApplication:
    """``api_key`` (64 hexadecimal digits) and ``webhook_secret`` exist here alone: shown once, never stored."""

    application: Application
    api_key: str
    webhook_secret: str


def create_organization(name: str, plan: str) -> Organization:
    """Raises ``DomainError("validation_error", …)``."""
    _choose("plan", plan, Plan.values)
    return Organization.objects.create(name=_name(name), plan=plan)


def update_organization(
    organization_id: int,
    *,
    name: str | None = None,
    plan: str | None = None,
    refuse_changeable_documents: bool | None = None,
    mails_copy_links: bool | None = None,
    contact_email: str | None = None,
) -> Organization:
    """Changes what is not None; an empty ``contact_email`` removes the address. A plan applies from the next call on;
    what was made under the one before stays.

    Raises ``DomainError("not_found" | "validation_error", …)``.
    """
    organization = existing_organization(organization_id)
    if plan is not None:
        _choose("plan", plan, Plan.values)
    given = {
        "name": None if name is None else _name(name),
        "plan": plan,
        "refuse_changeable_documents": refuse_changeable_documents,
        "mails_copy_links": mails_copy_links,
        "contact_email": None if contact_email is None else _email_address(contact_email.strip()),
    }
    changes = {field: value for field, value in given.items() if value is not None}
    for field, value in changes.items():
        setattr(organization, field, value)
    organization.save(update_fields=list(changes))
    return organization


def create_application(
    organization_id: int, environment: str, name: str, webhook_url: str = "", origins: Sequence[str] = ()
) -> NewApplication:
    """An application with its first API key. Who may have one for production is the caller's to judge: on the plan Free
    its calls are answered with 402 (specification 8).

    ``origins``: the sites that may show its signing pages in a frame, any if empty.
    Raises ``DomainError("not_found" | "validation_error", …)``.
    """
    _choose("environment", environment, Environment.values)
    api_key, secret = tokens.random_hex(32), tokens.random_hex(32)
    with transaction.atomic():
        application = Application.objects.create(
            organization=existing_organization(organization_id),
            environment=environment,
            name=_name(name),
            webhook_url=_web_address(webhook_url),
            frame_origins=" ".join(frame_origins(origins)),
            webhook_secret_encrypted=encrypted_secret(secret),
        )
        ApiKey.objects.create(application=application, sha256=tokens.sha256(api_key.encode()))
    return NewApplication(application, api_key, secret)


def update_application(
    application_id: int,
    origins: Sequence[str] | None = None,
    *,
    name: str | None = None,
    webhook_url: str | None = None,
) -> Application:
    """Changes what is not None. ``origins`` replace the sites that may show the application's signing pages in a frame;
    any may if they are empty. An empty ``webhook_url`` ends its webhooks; those recorded before keep their address.

    Raises ``DomainError("not_found" | "validation_error", …)``.
    """
    application = existing_application(application_id)
    given = {
        "frame_origins": None if origins is None else " ".join(frame_origins(origins)),
        "name": None if name is None else _name(name),
        "webhook_url": None if webhook_url is None else _web_address(webhook_url),
    }
    changes = {field: value for field, value in given.items() if value is not None}
    for field, value in changes.items():
        setattr(application, field, value)
    application.save(update_fields=list(changes))
    return application


def revoke_application(application_id: int) -> int:
    """Rejects all keys of the application from now on; returns how many were live. Raises
    ``DomainError("not_found", …)``."""
    existing_application(application_id)
    return revoke_keys(ApiKey.objects.filter(application_id=application_id))


def revoke_key(key_id: int) -> ApiKey:
    """Rejects one key from now on. Raises ``DomainError("not_found", …)``."""
    key = existing_key(key_id)
    revoke_keys(ApiKey.objects.filter(pk=key_id))
    key.refresh_from_db(fields=["revoked_at"])
    return key


def existing_key(key_id: int) -> ApiKey:
    """Raises ``DomainError("not_found", …)`` where there is none, or its organization is deleted."""
    keys = ApiKey.objects.select_related("application").filter(application__organization__deleted_at=None)
    key = keys.filter(pk=key_id).first()
    if key is None:
        raise DomainError("not_found", f"There is no key {key_id}.")
    return key


def revoke_keys(keys: QuerySet[ApiKey]) -> int:
    """Rejects those of the keys that are live from now on, also those that would end later; returns how many."""
    now = clock.now()
    return keys.filter(Q(revoked_at=None) | Q(revoked_at__gt=now)).update(revoked_at=now)


def create_branding_profile(
    organization_id: int, name: str, *, background_color: str, text_color: str, accent_color: str
) -> BrandingProfile:
    """Colours are ``#rrggbb``. Raises ``DomainError("not_found" | "validation_error" | "forbidden", …)``, the last
    when the plan allows no further profile (2 on Pro, 10 on Enterprise)."""
    values = _branding(name, background_color, text_color, accent_color)
    with transaction.atomic():
        organization = existing_organization(organization_id, lock=True)  # of two at once, one is the last allowed
        limit = allowance(organization.plan).branding_profiles
        if organization.branding_profiles.filter(deletion=None).count() >= limit:
            raise DomainError("forbidden", f"The plan {organization.plan} allows {limit} branding profiles.")
        return BrandingProfile.objects.create(organization=organization, **values)


def update_branding_profile(
    profile: BrandingProfile, name: str, *, background_color: str, text_color: str, accent_color: str
) -> BrandingProfile:
    """Changes name and colours; requests that have the profile show them from then on. Raises
    ``DomainError("validation_error", …)``."""
    values = _branding(name, background_color, text_color, accent_color)
    for field, value in values.items():
        setattr(profile, field, value)
    profile.save(update_fields=list(values))
    return profile


def delete_branding_profile(profile: BrandingProfile) -> None:
    """Takes the profile from the organization; another may then be made in its place. Requests that have it keep its
    colours."""
    DeletedBrandingProfile.objects.create(profile=profile)


def existing_branding_profile(profile_id: int) -> BrandingProfile:
    """Raises ``DomainError("not_found", …)`` where there is none, or it or its organization is deleted."""
    profiles = BrandingProfile.objects.filter(deletion=None, organization__deleted_at=None)
    profile = profiles.filter(pk=profile_id).first()
    if profile is None:
        raise DomainError("not_found", f"There is no branding profile {profile_id}.")
    return profile


def webhook_secret(encrypted: bytes) -> str:
    """The secret that an application's webhooks are signed with (specification 6.1), from its row's
    ``webhook_secret_encrypted``."""
    plain: bytes = settings.SECRETS.decrypt(WEBHOOK_SECRETS, bytes(encrypted))
    return plain.decode()


def encrypted_secret(secret: str) -> bytes:
    """Returns the secret as :func:`webhook_secret` reads it."""
    encrypted: bytes = settings.SECRETS.encrypt(WEBHOOK_SECRETS, secret.encode())
    return encrypted


def existing_application(application_id: int) -> Application:
    """Raises ``DomainError("not_found", …)`` where there is none, or its organization is deleted."""
    application = Application.objects.filter(pk=application_id, organization__deleted_at=None).first()
    if application is None:
        raise DomainError("not_found", f"There is no application {application_id}.")
    return application


def existing_organization(organization_id: int, *, lock: bool = False) -> Organization:
    """Raises ``DomainError("not_found", …)`` where there is none, or it is deleted."""
    rows = Organization.objects.select_for_update() if lock else Organization.objects.all()
    organization = rows.filter(pk=organization_id, deleted_at=None).first()
    if organization is None:
        raise DomainError("not_found", f"There is no organization {organization_id}.")
    return organization


def _choose(field: str, value: str, choices: list[str]) -> None:
    if value not in choices:
        raise DomainError("validation_error", f"{field} must be one of {', '.join(choices)}, not {value!r}.")


def _branding(name: str, background_color: str, text_color: str, accent_color: str) -> dict[str, str]:
    colors = {"background_color": background_color, "text_color": text_color, "accent_color": accent_color}
    for field, value in colors.items():
        if not _COLOR.fullmatch(value):
            raise DomainError("validation_error", f"{field} must be a colour such as #1a2b3c, not {value[:20]!r}.")
    return {"name": _name(name), **colors}


def _name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise DomainError("validation_error", f"name must have 1 to {_LONGEST_NAME} printable characters.")
    return name


def _email_address(address: str) -> str:
    if address:
        try:
            validate_email(address)
        except ValidationError as problem:
            sentence = f"contact_email must be an e-mail address, not {address[:80]!r}."
            raise DomainError("validation_error", sentence) from problem
    return address


def _web_address(url: str) -> str:
    if url:
        check_url(url, name="webhook_url")
    return url
