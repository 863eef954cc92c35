"""What people wrote, as mails show it: line by line, and without anything that becomes a link."""

from django.utils.html import format_html, format_html_join

from paraph.messaging.letters import Sentence, unlinked

_MAX_LINE_LENGTH = 15_000  # the longest message fits, with the spaces that break up its addresses
_BOX = (
    '<span class="quiet" style="display:block;padding:12px 16px;border:1px solid #d9deea;border-radius:8px">{}</span>'
)


def written(text: str) -> Sentence:
    """Return the text line by line, each in the direction of its script."""
    lines = [unlinked(line, _MAX_LINE_LENGTH) for line in text.split("\n")]
    html = format_html_join(
        "", '<span dir="auto" style="display:block">{}</span>', ((line or "\u00a0",) for line in lines)
    )
    return Sentence("\n".join(lines), html)


def quoted(text: str) -> Sentence:
    """Return the text set off from what the service says, as mail programs mark quotations in plain text."""
    said = written(text)
    return Sentence("\n".join(f"> {line}".rstrip() for line in said.text.split("\n")), format_html(_BOX, said.html))
