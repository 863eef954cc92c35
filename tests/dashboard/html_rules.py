"""What holds for the HTML of every page, whatever it is about."""

from html.parser import HTMLParser

_NO_CONTROLS = ("hidden", "submit", "button", "image", "reset")


def broken_rules(page: str) -> list[str]:
    """Return how the page breaks these rules: posted forms carry a token and others do not; every field has a label;
    rows of tables have ids; there is no script and no style within the page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    unlabelled = [control for control, names in reader.controls if not names & reader.labelled]
    return reader.broken + [f"no label: {control}" for control in unlabelled]


def row_count(page: str) -> int:
    """Return the number of rows in all tables."""
    reader = _Reader()
    reader.feed(page)
    return reader.rows


class _Reader(HTMLParser):
    """``controls`` has each control with the ids by which a label may name it; "" stands for a label around it."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: list[str] = []
        self.controls: list[tuple[str, set[str]]] = []
        self.labelled = {""}
        self.rows = 0
        self._open: list[str] = []
        self._form, self._has_token = "", False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.keys() & {"style", "hx-on"} or any(name.startswith("on") for name in given):
            self.broken.append(f"a script or style within the page: {tag} {given}")
        if tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.broken.append(f"a script or style within the page: {tag}")
        if tag in ("form", "label", "tbody"):
            self._open.append(tag)
        if tag == "form":
            self._form, self._has_token = given.get("method", "get").lower(), False
        elif tag == "label" and given.get("for"):
            self.labelled.add(given["for"])
        elif tag == "tr" and "tbody" in self._open:
            self.rows += 1
            if not given.get("data-id"):
                self.broken.append("a row without data-id")
        elif tag in ("input", "select", "textarea"):
            self._control(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._open.reverse()
            self._open.remove(tag)
            self._open.reverse()
        if tag == "form" and self._has_token != (self._form == "post"):
            self.broken.append(f"a form by {self._form} with{'' if self._has_token else 'out'} a token")

    def _control(self, tag: str, given: dict[str, str]) -> None:
        if given.get("name") == "csrfmiddlewaretoken":
            self._has_token = True
        if given.get("type") in _NO_CONTROLS:
            return
        names = {given.get("id", "no id")}
        if "label" in self._open or given.get("aria-label") or given.get("aria-labelledby"):
            names.add("")
        self.controls.append((f"{tag} {given.get('name', given)}", names))
