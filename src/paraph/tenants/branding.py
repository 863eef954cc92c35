"""Branding profiles with their logos (docs/decisions/logos.md), and the colours of a page that follow from one
(rule 2.4)."""

from typing import NamedTuple

from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy

from paraph.kernel.appearance import READABLE, LogoPicture, contrast, is_color, nearest, readable_on
from paraph.kernel.errors import AwayError, DomainError
from paraph.storage import store
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.limits import allowance
from paraph.tenants.models import BrandingProfile, Logo
from paraph.tenants.organizations import checked_name, locked_organization
from paraph.tenants.scope import existing

DEFAULT = ("#f2f4f8", "#16203a", "#1f4fd8")
_SURFACE = "#ffffff"
_VISIBLE = 3.0  # WCAG 2.2, 1.4.11: lines and controls
COLORS = ("background_color", "text_color", "accent_color")


@transaction.atomic
def create_profile(
    organization_id: int, actor: Actor, name: str, *, signature_only: bool = False, **colors: str
) -> BrandingProfile:
    """Make a profile with ``background_color``, ``text_color`` and ``accent_color``, each ``#rrggbb``.
    ``signature_only``: stamps have no line and no words. Raise ``DomainError``: ``not_found``, ``validation_error``,
    ``forbidden`` where the plan allows no further one (2 on Pro, 10 on Enterprise)."""
    organization = locked_organization(organization_id)
    values = _checked(name, colors)
    limit = allowance(organization.plan).branding_profiles
    if organization.branding_profiles.filter(deleted_at=None).count() >= limit:
        raise DomainError("forbidden", f"The plan {organization.plan} allows {limit} branding profiles.")
    profile = BrandingProfile.objects.create(organization=organization, signature_only=signature_only, **values)
    note(organization_id, actor, Action.BRANDING_CREATED, profile.name, after=facts_of(profile))
    return profile


@transaction.atomic
def update_profile(
    actor: Actor, profile: BrandingProfile, name: str, *, signature_only: bool = False, **colors: str
) -> BrandingProfile:
    """Change name and colours, also for existing requests with the profile; and the form of stamps, only for requests
    that are created from then on. Raise ``DomainError``: ``not_found``, ``validation_error``."""
    locked_organization(profile.organization_id)
    before, values = facts_of(profile), _checked(name, colors)
    for field, value in values.items():
        setattr(profile, field, value)
    profile.signature_only = signature_only
    profile.save(update_fields=[*values, "signature_only"])
    after = facts_of(profile)
    if before != after:
        note(profile.organization_id, actor, Action.BRANDING_UPDATED, profile.name, before=before, after=after)
    return profile


def existing_profile(profile_id: int) -> BrandingProfile:
    """Return the profile. Raise ``DomainError("not_found", …)`` where there is none, or it or its organization is
    deleted."""
    profiles = BrandingProfile.objects.filter(deleted_at=None, organization__deleted_at=None)
    return existing(profiles.filter(pk=profile_id), f"There is no branding profile {profile_id}.")


def _checked(name: str, colors: dict[str, str]) -> dict[str, str]:
    values = {field: colors[field] for field in COLORS}
    for field, value in values.items():
        if not is_color(value):
            raise DomainError("validation_error", f"{field} must be a colour such as #1a2b3c, not {value[:20]!r}.")
    return {"name": checked_name(name), **values}


def facts_of(profile: BrandingProfile) -> dict[str, object]:
    facts = {"branding_profile_id": profile.pk} | {field: getattr(profile, field) for field in ("name", *COLORS)}
    return facts | ({"signature_only": True} if profile.signature_only else {})


def accent(profile: BrandingProfile | None) -> str:
    """Return the colour of buttons and marks, "" without a profile."""
    return profile.accent_color if profile else ""


def theme(profile: BrandingProfile | None) -> dict[str, str | bool]:
    """Return CSS colours by name. The profile's text and accent are replaced where they could not be read or seen."""
    chosen = (profile.background_color, profile.text_color, profile.accent_color) if profile else DEFAULT
    background, text, accent = (
        color if is_color(color) else default for color, default in zip(chosen, DEFAULT, strict=True)
    )
    return {
        "is_default": profile is None,
        "background": background,
        "text": readable_on(background, text),
        "surface": _SURFACE,
        "surface_text": readable_on(_SURFACE, text),
        "accent": accent,
        "on_accent": readable_on(accent),
        "line": accent if contrast(accent, _SURFACE) >= _VISIBLE else readable_on(_SURFACE, text),
    }


class Pair(TextChoices):
    TEXT_ON_BACKGROUND = "text_on_background", gettext_lazy("Text on the background")
    TEXT_ON_SURFACE = "text_on_surface", gettext_lazy("Text on white cards")
    ACCENT_ON_SURFACE = "accent_on_surface", gettext_lazy("Lines and controls, accent on white")
    LABEL_ON_ACCENT = "label_on_accent", gettext_lazy("Button labels, black or white on the accent")


class Contrast(NamedTuple):
    """The ``ratio`` of two colours that meet, and the ratio ``needed`` (WCAG 2.2, 1.4.3 and 1.4.11). ``suggestion``:
    the nearest colour that has the needed ratio, "" if the chosen one has."""

    pair: Pair
    ratio: float
    needed: float
    suggestion: str


def contrasts(background: str, text: str, accent: str) -> list[Contrast]:
    """Measure the contrast of each pair of colours that meet on a signing page."""
    return [
        _measured(Pair.TEXT_ON_BACKGROUND, text, background, READABLE),
        _measured(Pair.TEXT_ON_SURFACE, text, _SURFACE, READABLE),
        _measured(Pair.ACCENT_ON_SURFACE, accent, _SURFACE, _VISIBLE),
        _measured(Pair.LABEL_ON_ACCENT, readable_on(accent), accent, READABLE),
    ]


def _measured(pair: Pair, color: str, background: str, needed: float) -> Contrast:
    ratio = contrast(color, background)
    return Contrast(pair, ratio, needed, "" if ratio >= needed else nearest(color, background, needed))


def logo_of(profile: BrandingProfile | None) -> Logo | None:
    return Logo.objects.filter(profile=profile).first() if profile else None


def logo_picture(profile: BrandingProfile | None) -> LogoPicture | None:
    """Return the logo on the profile's background. Return None if there is no logo, or the store cannot give it now: a
    mail or a proof is made without it rather than later."""
    logo = logo_of(profile)
    if logo is None:
        return None
    try:
        png = store.get(logo.object_key)
    except (FileNotFoundError, AwayError):
        return None
    return LogoPicture(png, logo.width, logo.height, str(theme(profile)["background"]))
