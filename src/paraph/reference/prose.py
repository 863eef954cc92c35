"""The OpenAPI document's descriptions as HTML: paragraphs, and `code` between backticks. Nothing else of Markdown
is used there."""

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe


def inline(text: str) -> SafeString:
    """One line of text."""
    joined = escape(" ".join(text.split()))
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", joined))  # noqa: S308  escaped above


def paragraphs(text: str) -> SafeString:
    """Paragraphs, which empty lines divide."""
    found = "".join(f"<p>{inline(each)}</p>" for each in re.split(r"\n\s*\n", text.strip()))
    return mark_safe(found)  # noqa: S308  inline() escapes
