"""The colours of a page: a branding profile's, kept readable (specification 2.4)."""

from paraph.kernel.colors import contrast, is_color, readable_on
from paraph.tenants.models import BrandingProfile

DEFAULT = ("#f2f4f8", "#16203a", "#1f4fd8")
SURFACE = "#ffffff"
VISIBLE = 3.0  # WCAG 2.2, 1.4.11: lines and controls


def theme(profile: BrandingProfile | None) -> dict[str, str | bool]:
    """CSS colours by name. The profile's text and accent give way where they could not be read or seen."""
    chosen = (profile.background_color, profile.text_color, profile.accent_color) if profile else DEFAULT
    background, text, accent = (
        color if is_color(color) else default for color, default in zip(chosen, DEFAULT, strict=True)
    )
    return {
        "is_default": profile is None,
        "background": background,
        "text": readable_on(background, text),
        "surface": SURFACE,
        "surface_text": readable_on(SURFACE, text),
        "accent": accent,
        "on_accent": readable_on(accent),
        "line": accent if contrast(accent, SURFACE) >= VISIBLE else readable_on(SURFACE, text),
    }
