"""Words, dates, drawings and pages of documents on the pages for signers."""

import json
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from paraph import words as catalog

register = template.Library()

_ANY_NUMBER = "\0"  # in no name, as PostgreSQL stores none in texts, and in no words


@register.simple_tag(takes_context=True)
def word(context: dict[str, Any], called: str, ending: str = "", **values: object) -> SafeString:
    """Return the words of this name in the page's language, escaped, with their placeholders filled in; values are
    escaped unless they are markup of ours."""
    text = escape(catalog.form(context["words"], called + ending, values.get("count")))
    return format_html(text, **values) if values else text


@register.simple_tag(takes_context=True)
def moment(context: dict[str, Any], time: datetime) -> SafeString:
    """Return date and time in words, in UTC; a script of the page shows them in the reader's own zone."""
    return format_html('<time datetime="{}">{}</time>', _exact(time), catalog.moment(time, context["locale"]))


@register.simple_tag(takes_context=True)
def clock(context: dict[str, Any], time: datetime) -> SafeString:
    """Return the time of day of a recent moment, as :func:`moment` writes it, without the date."""
    return format_html('<time datetime="{}" data-clock>{}</time>', _exact(time), catalog.clock(time, context["locale"]))


def _exact(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@register.filter
def as_json(value: Any) -> str:
    """Return a drawing for a field of the form; "" for none."""
    return json.dumps(value, separators=(",", ":")) if value else ""


@register.simple_tag(takes_context=True)
def page_figure(
    context: dict[str, Any], document: dict[str, Any], page: dict[str, Any], *, is_first: bool
) -> SafeString:
    """Return a page with its places. Most pages of long documents differ only in their number: these are rendered
    once."""
    if is_first or page["boxes"] or "fields" in page or page["prints_differently"] or page["disputed"]:
        return _rendered(context, document, page, is_first=is_first)
    rendered = document.setdefault("figures", {})
    if page["view_box"] not in rendered:
        rendered[page["view_box"]] = _rendered(context, document, page | {"number": _ANY_NUMBER}, is_first=False)
    return SafeString(rendered[page["view_box"]].replace(_ANY_NUMBER, page["number"]))


def _rendered(context: Any, document: dict[str, Any], page: dict[str, Any], *, is_first: bool) -> SafeString:
    with context.push(document=document, page=page, is_first=is_first):
        rendered: SafeString = context.template.engine.get_template("signer/page_figure.html").render(context)
    return rendered
