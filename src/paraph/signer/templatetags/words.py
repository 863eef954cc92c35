"""Words and numbers of the signer pages."""

from typing import Any

from django import template

register = template.Library()

_FOR_SCRIPT = (
    "sending",
    "sent",
    "sandbox_code",
    "signing",
    "sign",
    "invalid_otp",
    "attempts_left",
    "too_many_attempts",
    "rate_limited",
    "delivery_failed",
    "expired_text",
    "not_your_turn_text",
    "already_signed_text",
    "unshown",
    "failed",
)


@register.simple_tag(takes_context=True)
def word(context: dict[str, Any], called: str, ending: str = "", **values: object) -> str:
    """The words of this name in the page's language, with its placeholders filled in; escaped like any text."""
    text: str = context["words"][called + ending]
    return text.format(**values)


@register.filter
def for_script(words: dict[str, str]) -> dict[str, str]:
    """The words that the script says."""
    return {name: words[name] for name in _FOR_SCRIPT}


@register.filter
def unlocalized(number: float) -> str:
    """A length for SVG, with a point whatever the language."""
    return f"{number:.2f}"


@register.filter
def plus_half(start: float, length: float) -> str:
    """The middle of a stretch, for SVG."""
    return f"{start + length / 2:.2f}"
