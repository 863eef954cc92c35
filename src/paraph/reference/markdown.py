"""The topics of the reference as Markdown, for programs that read (``/docs/….md``)."""

import re
from html.parser import HTMLParser

_CODE_OR_GAP = re.compile(r"^```.*?^```$|\n{3,}", re.MULTILINE | re.DOTALL)
_BLOCKS = {"p", "h1", "h2", "h3", "h4", "figcaption", "summary"}
_LANGUAGES = {"curl": "sh"}
_VOID = {"input", "wbr", "br", "img"}


def markdown_of(html: str) -> str:
    """Return a topic's HTML as Markdown: headings, paragraphs, lists, tables and code, without forms to try calls."""
    writer = _Writer()
    writer.feed(html)
    text = _CODE_OR_GAP.sub(lambda found: "\n\n" if found[0][0] == "\n" else found[0], writer.text()).strip()
    return f"{text}\n"


class _Writer(HTMLParser):
    """Write Markdown while reading HTML. What stands within a cell or a link is gathered separately."""

    def __init__(self) -> None:
        super().__init__()
        self._written: list[list[str]] = [[]]
        self._lists: list[str] = []
        self._skipped = 0
        self._in_code = False
        self._language = ""
        self._links: list[str] = []
        self._row: list[str] = []

    def text(self) -> str:
        return "".join(self._written[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if self._skipped or (tag == "details" and of.get("class") == "try") or tag == "caption":
            self._skipped += tag not in _VOID
        elif tag in _BLOCKS:
            self._write("\n\n" + "#" * int(tag[1]) + " " if tag[0] == "h" else "\n\n")
        elif tag in ("ul", "ol"):
            self._lists.append(tag)
        elif tag == "li":
            self._write("\n" + "  " * (len(self._lists) - 1) + ("- " if self._lists[-1] == "ul" else "1. "))
        elif tag == "figure":
            self._language = of.get("data-code") or of.get("data-language", "").partition(",")[0].lower()
        elif tag == "pre":
            self._in_code = True
            self._write(f"\n\n```{_LANGUAGES.get(self._language, self._language)}\n")
        elif tag == "code" and not self._in_code:
            self._write("`")
        elif tag in ("strong", "q"):
            self._write("**" if tag == "strong" else "“")
        elif tag == "a":
            self._links.append(of.get("href", ""))
            self._written.append([])
        elif tag == "table":
            self._write("\n\n")
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._written.append([])

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag == "pre":
            self._in_code, self._language = False, ""
            self._write("\n```\n")
        elif tag in _BLOCKS or tag == "table":
            self._write("\n\n")
        elif tag == "li" and self._written[-1][-1] == " ":
            self._written[-1].pop()
        elif tag in ("ul", "ol"):
            self._lists.pop()
            self._write("\n\n")
        elif tag == "code" and not self._in_code:
            self._write("`")
        elif tag in ("strong", "q"):
            self._write("**" if tag == "strong" else "”")
        elif tag == "a":
            words, address = "".join(self._written.pop()), _of_markdown(self._links.pop())
            self._write(words if address.startswith("#") else f"[{words}]({address})")
        elif tag in ("td", "th"):
            cell = " ".join("".join(self._written.pop()).split())
            self._row.append(cell.replace("|", "\\|"))
        elif tag == "tr":
            self._write(f"| {' | '.join(self._row)} |\n")
        elif tag == "thead":
            self._write("|" + " --- |" * len(self._row) + "\n")

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._in_code:
            self._write(data)
        elif text := re.sub(r"\s+", " ", data):
            last = self._written[-1][-1][-1:] if self._written[-1] else "\n"
            if text != " " or last not in "\n ":
                self._write(text.lstrip() if last == "\n" else text)

    def _write(self, text: str) -> None:
        self._written[-1].append(text)


def _of_markdown(address: str) -> str:
    """Return where a link leads: from one topic as Markdown to another."""
    found = re.fullmatch(r"/docs(?:/([a-z-]+))?(#.*)?", address)
    return f"/docs/{found[1] or 'start'}.md{found[2] or ''}" if found else address
