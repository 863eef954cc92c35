"""Organizations, their settings and the defaults of their requests (rules 2.4, 2.6). Every change locks the
organization's row first."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Application, BrandingProfile, Environment, Member, Organization, Plan, Role, User
from paraph.tenants.scope import existing

MOST_OWNED = 10
UNNAMED = "First organization"
"""The name of the organization of a first start until somebody changes it."""

_LONGEST_NAME = 200
_SWITCHES = ("refuse_changeable_documents", "mails_copy_links", "esign_disclosure")
SETTINGS = ("name", "plan", *_SWITCHES, "contact_email", "web_application_id")


def existing_organization(organization_id: int, *, lock: bool = False) -> Organization:
    """Return the organization. Raise ``DomainError("not_found", …)`` where there is none, or it is deleted."""
    rows = Organization.objects.select_for_update(no_key=True) if lock else Organization.objects.all()
    sentence = _("There is no organization %(id)d.") % {"id": organization_id}
    return existing(rows.filter(pk=organization_id, deleted_at=None), sentence)


def locked_organization(organization_id: int) -> Organization:
    """Return the organization, whose row stays locked until the transaction ends. Every change locks it first, before
    the rows that it changes. Raise ``DomainError("not_found", …)``, also where it is deleted."""
    return existing_organization(organization_id, lock=True)


@transaction.atomic
def create_organization(actor: Actor, name: str, plan: str) -> Organization:
    """Make an organization without members. Raise ``DomainError("validation_error", …)``."""
    require_choice("plan", plan, Plan.values)
    made = Organization.objects.create(name=checked_name(name), plan=plan)
    note(made.pk, actor, Action.ORGANIZATION_CREATED, made.name, after={"plan": made.plan})
    return made


def may_open_organization(user: User) -> bool:
    """Return whether the person may make another organization: unless registration is closed, everybody may own up to
    ten."""
    return settings.PARAPH.registration != "closed" and user.memberships.filter(role=Role.OWNER).count() < MOST_OWNED


@transaction.atomic
def open_organization(user: User, actor: Actor, name: str) -> Organization:
    """Make an organization on the plan Free that the person owns. Raise ``DomainError``: ``forbidden``,
    ``validation_error``."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not may_open_organization(user):
        raise DomainError("forbidden", _("You cannot create another organization here; ask the operator for one."))
    organization = create_organization(actor, name, Plan.FREE)
    Member.objects.create(organization=organization, user=user, role=Role.OWNER)
    note(organization.pk, actor, Action.MEMBER_JOINED, user.email, after={"role": Role.OWNER})
    return organization


@transaction.atomic
def change_settings(organization_id: int, actor: Actor, **given: Any) -> Organization:
    """Change name, plan, contact address, whether documents that can change are refused, whether summaries have links,
    whether signers are shown the ESIGN disclosure, and which application gets the webhooks of requests from the
    dashboard. Settings that are absent or None stay as they are. The caller decides which ones the actor may change. A
    plan applies from the next call on; what was made before stays. An empty ``contact_email`` removes the address, a
    ``web_application_id`` of 0 the application. Raise ``DomainError``: ``not_found``, ``validation_error``."""
    organization = locked_organization(organization_id)
    before = {field: getattr(organization, field) for field in SETTINGS}
    wanted = {field: given[field] for field in SETTINGS if given.get(field) is not None}
    if "plan" in wanted:
        require_choice("plan", wanted["plan"], Plan.values)
    if "name" in wanted:
        wanted["name"] = checked_name(wanted["name"])
    if "contact_email" in wanted:
        wanted["contact_email"] = _email_address(wanted["contact_email"].strip())
    if "web_application_id" in wanted:
        wanted["web_application_id"] = _production_application(organization_id, wanted["web_application_id"])
    if (before | wanted)["esign_disclosure"] and not (before | wanted)["contact_email"]:
        raise DomainError("validation_error", _("The ESIGN disclosure names your contact address: enter one."))
    changes = {field: value for field, value in wanted.items() if value != before[field]}
    if changes:
        for field, value in changes.items():
            setattr(organization, field, value)
        organization.save(update_fields=list(changes))
        earlier = {field: before[field] for field in changes}
        note(organization_id, actor, Action.ORGANIZATION_UPDATED, before=earlier, after=changes)
    return organization


def application_for_web(organization_id: int, environment: str) -> Application | None:
    """Return the application that gets the webhooks of requests sent from the dashboard; None if there is none."""
    named = Organization.objects.filter(pk=organization_id).values("web_application_id")
    return Application.objects.filter(pk__in=named, environment=environment).first()


def production_applications(organization_id: int) -> QuerySet[Application]:
    """Return, by name, the applications that the organization may choose for requests from the dashboard."""
    production = Application.objects.filter(organization=organization_id, environment=Environment.PRODUCTION)
    return production.order_by("name", "pk")


def _production_application(organization_id: int, application_id: int) -> int | None:
    if application_id and not production_applications(organization_id).filter(pk=application_id).exists():
        sentence = f"web_application_id must name a production application of the organization, not {application_id}."
        raise DomainError("validation_error", sentence)
    return application_id or None


def checked_name(name: str) -> str:
    """Return the name of an organization, application or branding profile without white space around it. Raise
    ``DomainError("validation_error", …)``."""
    name = name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise DomainError("validation_error", f"name must have 1 to {_LONGEST_NAME} printable characters.")
    return name


def require_choice(field: str, value: str, choices: list[str]) -> None:
    """Raise ``DomainError("validation_error", …)`` for a value that is none of the choices."""
    if value not in choices:
        raise DomainError("validation_error", f"{field} must be one of {', '.join(choices)}, not {value!r}.")


def _email_address(address: str) -> str:
    if address:
        try:
            validate_email(address)
        except ValidationError as problem:
            sentence = f"contact_email must be an e-mail address, not {address[:80]!r}."
            raise DomainError("validation_error", sentence) from problem
    return address


DEFAULTS = ("locale", "branding_profile_id", "validity_days", "reminders", "message")
"""The options of a request for which an organization can set defaults, which apply to requests that members create in
the dashboard. Without an organization's default, the general one applies."""


def request_defaults(organization: Organization) -> dict[str, Any]:
    """Return the organization's defaults, without a branding profile that was deleted."""
    defaults = dict(organization.request_defaults or {})
    if not _has_profile(organization.pk, defaults.get("branding_profile_id")):
        del defaults["branding_profile_id"]
    return defaults


@transaction.atomic
def change_request_defaults(organization_id: int, actor: Actor, wanted: dict[str, Any]) -> None:
    """Set the defaults, whose values have been checked, and note what changed; of a message, which may name people,
    note only that there is one. Raise ``DomainError``: ``not_found``, ``validation_error`` for another organization's
    branding profile."""
    organization = locked_organization(organization_id)
    defaults = {name: wanted[name] for name in DEFAULTS if wanted.get(name)}
    if not _has_profile(organization_id, defaults.get("branding_profile_id")):
        raise DomainError("validation_error", "branding_profile_id must name a branding profile of the organization.")
    before = organization.request_defaults or {}
    if changed := [name for name in DEFAULTS if before.get(name) != defaults.get(name)]:
        organization.request_defaults = defaults
        organization.save(update_fields=["request_defaults"])
        earlier, later = ({f"default_{name}": _fact(name, each) for name in changed} for each in (before, defaults))
        note(organization_id, actor, Action.ORGANIZATION_UPDATED, before=earlier, after=later)


def _fact(name: str, defaults: dict[str, Any]) -> Any:
    return "…" if name == "message" and name in defaults else defaults.get(name)


def _has_profile(organization_id: int, profile_id: int | None) -> bool:
    """Return whether the profile is the organization's, or None."""
    own = BrandingProfile.objects.filter(organization_id=organization_id, deleted_at=None)
    return profile_id is None or own.filter(pk=profile_id).exists()
