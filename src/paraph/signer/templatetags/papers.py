"""The pages of documents on the signer pages."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

register = template.Library()

_ANY_NUMBER = "\0"  # in no name and no words: PostgreSQL stores none in texts


@register.simple_tag(takes_context=True)
def paper(context: dict[str, Any], document: dict[str, Any], page: dict[str, Any], *, is_first: bool) -> SafeString:
    """Return a page with its places. Most pages of long documents differ in nothing but their number: these are
    rendered once."""
    if is_first or page["boxes"] or "fields" in page or page["prints_differently"] or page["disputed"]:
        return _rendered(context, document, page, is_first=is_first)
    rendered = document.setdefault("papers", {})
    if page["view_box"] not in rendered:
        rendered[page["view_box"]] = _rendered(context, document, page | {"number": _ANY_NUMBER}, is_first=False)
    return SafeString(rendered[page["view_box"]].replace(_ANY_NUMBER, page["number"]))


def _rendered(context: Any, document: dict[str, Any], page: dict[str, Any], *, is_first: bool) -> SafeString:
    with context.push(document=document, page=page, is_first=is_first):
        rendered: SafeString = context.template.engine.get_template("signer/paper.html").render(context)
    return rendered
