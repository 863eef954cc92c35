"""What the dashboard's templates need beyond Django's own tags."""

import re
from datetime import timedelta
from functools import cache
from typing import Any

from django import template
from django.conf import settings
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from heroicons.templatetags.heroicons import heroicon_outline

from paraph.dashboard.requests.listing import title_of
from paraph.dashboard.requests.outcome import in_turn, names_of
from paraph.kernel import clock
from paraph.messaging.gateways import EMAIL, has_gateway, is_refused
from paraph.signature_requests.models import SignatureRequest, SignerStatus
from paraph.tenants.models import Environment
from paraph.words import language_name

register = template.Library()

_BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome"}
_BROWSERS |= {"Chrome/": "Chrome", "Safari/": "Safari"}
_SYSTEMS = {"iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "macOS"}
_SYSTEMS |= {"CrOS": "ChromeOS", "Linux": "Linux"}
_MOST_NAMES = 2  # in a cell of a list
_SOON = timedelta(days=3)
_FITS = 20  # characters, in the narrowest column


@register.filter
def browser_name(user_agent: str) -> str:
    """Return what people call the browser and its system, such as «Firefox, Windows»; the start of the ``user_agent``
    where neither is known."""
    known = (next((name for mark, name in each.items() if mark in user_agent), "") for each in (_BROWSERS, _SYSTEMS))
    return ", ".join(filter(None, known)) or Truncator(user_agent).chars(60)


@register.filter
def after_colon(sentence: str) -> str:
    """Return the sentence as it goes on after a colon: with a small letter, except in German and where it begins with
    an abbreviation."""
    is_word = sentence[:1].isupper() and not sentence[1:2].isupper()
    return sentence[:1].lower() + sentence[1:] if is_word and get_language() != "de" else sentence


register.filter("language_name", language_name)


@register.filter
def mail_address(email: str) -> SafeString:
    """Return the address, which breaks after its «@» before it breaks within a name; short ones need no break."""
    escaped = escape(email)
    return SafeString(escaped.replace("@", "@<wbr>") if len(email) > _FITS else escaped)


@register.simple_tag
def registration_is_open() -> bool:
    """Return whether strangers may make accounts."""
    return bool(settings.PARAPH.registration == "open")


@register.simple_tag(takes_context=True)
def passkeys_are_possible(context: dict[str, Any]) -> bool:
    """Return whether the site has a domain name: a passkey belongs to one, and browsers refuse it at an IP address."""
    return not re.fullmatch(r"[0-9.]+(:[0-9]+)?|\[.*", str(context["request"].get_host()))


@register.simple_tag
def organizations_can_be_made() -> bool:
    """Return whether people may make organizations of their own."""
    return bool(settings.PARAPH.registration != "closed")


@register.simple_tag
def mails_are_kept() -> bool:
    """Return whether mails are captured, because the operator has set nothing that sends them."""
    return not has_gateway(EMAIL)


@register.simple_tag
def mails_are_refused() -> bool:
    """Return whether mails to signers of production are refused, because nothing sends them."""
    return is_refused(Environment.PRODUCTION, EMAIL)


@register.simple_tag(takes_context=True)
def nav_link(context: RequestContext, name: str, label: str, icon: str = "", **address: Any) -> SafeString:
    """Return a link of the navigation, marked where it leads to the page shown or to one above it. The address of an
    organization's page takes the organization from the context."""
    organization = context.get("organization")
    if organization is not None:
        address = {"organization_id": organization.pk} | address
    url = reverse(name, kwargs=address)
    path = context["request"].path
    here = path == url or (name not in ("home", "account") and path.startswith(f"{url.rstrip('/')}/"))
    current = SafeString(' aria-current="page"') if here else ""
    return format_html('<a href="{}"{}>{}{}</a>', url, current, icon_of(icon) if icon else "", label)


@register.simple_tag(name="icon")
@cache
def icon_of(name: str) -> SafeString:
    """Return a Heroicon as an ``svg`` element that screen readers pass over."""
    return SafeString(heroicon_outline(name, size=20))


register.filter("request_title", title_of)


@register.filter
def progress(found: SignatureRequest) -> str:
    """Return how many have signed, such as «1 of 2», of a request whose signers are loaded."""
    states = [signer.status for signer in found.signers.all()]
    return _("%(signed)d of %(count)d") % {"signed": states.count(SignerStatus.SIGNED), "count": len(states)}


@register.filter
def whose_turn(found: SignatureRequest) -> str:
    """Return the names of those who may sign the request now, of many the first; its signers are loaded."""
    return names_of(in_turn(found, sorted(found.signers.all(), key=lambda signer: signer.order)), _MOST_NAMES)


@register.filter
def is_soon(found: SignatureRequest) -> bool:
    """Return whether the time to sign a request is over within three days."""
    return clock.now() > found.expires_at - _SOON
