"""Descriptions of the OpenAPI document as HTML. Of Markdown they use only paragraphs and `code` in backticks."""

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe


def inline(text: str) -> SafeString:
    """HTML of one paragraph, without its tags."""
    joined = escape(" ".join(text.split()))
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", joined))  # noqa: S308  escaped above


def paragraphs(text: str) -> SafeString:
    """HTML of paragraphs that empty lines separate."""
    html = "".join(f"<p>{inline(each)}</p>" for each in re.split(r"\n\s*\n", text.strip()))
    return mark_safe(html)  # noqa: S308  inline() escapes


def breakable(name: str) -> SafeString:
    """HTML of a name that a narrow screen may break after an underscore."""
    return mark_safe(escape(name).replace("_", "_<wbr>"))  # noqa: S308  escaped
