"""A draft of a served process, made by plain forms, and the window in which its stamps are placed."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pikepdf
from playwright.sync_api import Page, expect

from paraph.pdf.untrusted.page_reading import list_tags, under
from tests.cli.service import Service

PASSWORD = "a long enough phrase"
_NOTHING = {f"{kind}-{name}_FORMS": "0" for kind in ("stamp", "field") for name in ("TOTAL", "INITIAL")}
_FIELDS = ("page", "x", "y", "width", "height")
Point = tuple[float, float]


@dataclass
class Draft:
    """A draft and its owner's browser; ``address`` is that of the step «Places»."""

    browser: httpx.Client
    address: str
    pdf: bytes

    @property
    def cookies(self) -> list[Any]:
        base = str(self.browser.base_url)
        return [{"name": each.name, "value": each.value, "url": base} for each in self.browser.cookies.jar]

    def prove_identity(self) -> None:
        """Give the password once more: guarded pages open only for five minutes after it."""
        post(self.browser, "/account/reauthenticate/", {"password": PASSWORD})

    def switch(self, environment: str) -> None:
        """Make lists show the environment."""
        post(self.browser, "/app/1/environment", {"to": environment}, page="/app/1/")

    def clear(self) -> None:
        post(self.browser, self.address, {**_NOTHING, "action": "save"})

    def stored(self) -> list[dict[str, float]]:
        page = self.browser.get(self.address).text
        found = re.findall(r'name="stamp-(\d+)-(page|x|y|width|height)" value="([^"]*)"', page)
        rows: dict[str, dict[str, float]] = {}
        for row, name, value in found:
            rows.setdefault(row, {})[name] = float(value)
        return list(rows.values())

    def under_the_tag(self) -> dict[str, float]:
        [tag] = list_tags(self.pdf).values()
        place = under(tag, (900, 600), 160, 56)
        return {"page": tag.page_number, "x": place.x, "y": place.y, "width": place.width, "height": place.height}


def begin_draft(
    service: Service,
    *parts: bytes,
    browser: httpx.Client | None = None,
    people: Sequence[str] = ("Ada", "Grace"),
    organization: int = 1,
) -> Draft:
    """Begin a draft with the pages of the parts and these signers, in the given browser, else in a new one."""
    document = pikepdf.new()
    for part in parts:
        document.pages.extend(pikepdf.open(io.BytesIO(part)).pages)
    file = io.BytesIO()
    document.save(file)
    browser = browser or owners_browser(service, organization)
    draft = post(browser, f"/app/{organization}/drafts", {}).removesuffix("/documents")
    files = {"file": ("lease.pdf", file.getvalue(), "application/pdf")}
    post(browser, f"{draft}/documents", {"action": "upload"}, files)
    post(browser, f"{draft}/signers", signers(*people))
    return Draft(browser, f"{service.base_url}{draft}/places", file.getvalue())


def owner_of(organization: int) -> str:
    """Return the e-mail address of the owner of this organization."""
    return f"owner-{organization}@example.com"


def owners_browser(service: Service, organization: int) -> httpx.Client:
    """Make the owner of the organization; return their browser, which has no scripts, and in which they logged in."""
    email = owner_of(organization)
    options = ["--organization", str(organization), "--email", email, "--role", "owner", "--password-stdin"]
    service.run("member", "create", *options, given=f"{PASSWORD}\n").check_returncode()
    one_by_one = httpx.Limits(max_keepalive_connections=0)  # so that no connection stays open
    browser = httpx.Client(base_url=service.base_url, timeout=60, limits=one_by_one)
    post(browser, "/account/login/", {"login": email, "password": PASSWORD})
    return browser


def post(browser: httpx.Client, path: str, fields: dict[str, str], files: Any = None, page: str = "") -> str:
    """Send the form as :func:`send` does; return where it leads."""
    answer = send(browser, path, fields, files, page)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def send(browser: httpx.Client, path: str, fields: dict[str, str], files: Any = None, page: str = "") -> httpx.Response:
    """Send the form to ``path``, with the token of ``page`` or else of the page at ``path``."""
    token = found(r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.get(page or path).text)
    return browser.post(path, data={"csrfmiddlewaretoken": token, **fields}, files=files)


def found(pattern: str, page: str) -> str:
    part = re.search(pattern, page)
    assert part, page
    return part[1]


def signers(*people: str, initial: int = 0) -> dict[str, str]:
    """Return the fields of the form of signers for people with these first names."""
    rows = {"signer-TOTAL_FORMS": str(len(people)), "signer-INITIAL_FORMS": str(initial), "mode": "parallel"}
    for row, name in enumerate(people):
        person = {"first_name": name, "last_name": "Byron", "email": f"{name}@example.com", "phone": ""}
        rows |= {f"signer-{row}-{field}": value for field, value in {**person, "otp_channel": "email"}.items()}
    return rows


class Window:
    """What a member does in the editor, in points of the page; a point outside of the window is scrolled to first."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def entered(self) -> list[dict[str, float]]:
        cards = self.page.locator("[data-stamp]").all()
        return [{name: float(card.locator(f"[name$='-{name}']").input_value()) for name in _FIELDS} for card in cards]

    def drawn(self) -> list[dict[str, float]]:
        """The boxes as they stand on the pages."""
        found = self.page.evaluate(_BOXES)
        return [{name: round(value) for name, value in box.items()} for box in found]

    def said(self) -> str:
        return self.page.locator("[data-said]").text_content() or ""

    def saved(self) -> None:
        expect(self.page.locator("[data-saved]")).to_have_text("Saved", timeout=30_000)

    def size(self, page: int) -> Point:
        sheet = self.page.locator(f".sheet[data-page='{page}']")
        return float(sheet.get_attribute("data-width") or 0), float(sheet.get_attribute("data-height") or 0)

    def scale(self, page: int) -> float:
        box = self.page.locator(f".sheet[data-page='{page}'] .paper").bounding_box()
        assert box
        return box["width"] / self.size(page)[0]

    def sideways(self) -> int:
        """Pixels by which the page is wider than its window."""
        found: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return found

    def middle(self) -> Point:
        """The middle of the only stamp."""
        [stamp] = self.entered()
        return stamp["x"] + stamp["width"] / 2, stamp["y"] + stamp["height"] / 2

    def sign(self, page: int, x: float, y: float) -> None:
        """Take a signature from the palette and place it by a click at this point."""
        self.page.get_by_role("button", name="Add signature").click()
        self.mouse_click(page, x, y)

    def mouse_click(self, page: int, x: float, y: float) -> None:
        self.page.mouse.click(*self._seen(page, x, y))

    def unfold(self, name: str = "Position and size") -> None:
        """Open this part of the properties of the selected stamp or field."""
        self.page.locator(".stamp.selected summary", has_text=name).click()

    def mouse_drag(
        self, page: int, start: Point, end: Point, *, corner: str = "", to_page: int = 0, drop: bool = True
    ) -> None:
        """Drag from ``start``, which must lie on the handle ``corner`` of a stamp, or on no handle if it is empty."""
        first = self._seen(page, *start)
        self.page.mouse.move(*first)
        self._on_handle(first, corner)
        self.page.mouse.down()
        self.page.mouse.move(first[0] + 7, first[1] - 7)
        self.page.mouse.move(*self.place(to_page or page, *end), steps=4)
        if drop:
            self.page.mouse.up()

    def tap(self, page: int, x: float, y: float) -> None:
        self.page.touchscreen.tap(*self._seen(page, x, y))
        self.page.locator(".box").first.wait_for()

    def touch_drag(self, page: int, start: Point, end: Point, *, corner: str = "") -> None:
        first = self._seen(page, *start)
        last = self.place(page, *end)
        self._on_handle(first, corner)
        session = self.page.context.new_cdp_session(self.page)
        path = [tuple(a + (b - a) * part / 8 for a, b in zip(first, last, strict=True)) for part in range(9)]
        for kind, at in [("touchStart", first), *(("touchMove", at) for at in path[1:])]:
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}]})
            self.page.wait_for_timeout(20)
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        self.page.wait_for_timeout(50)

    def press_to(self, x: float, y: float, of: dict[str, float] | None = None) -> None:
        """Move what has the focus to this point by arrow keys, from ``of``, else from where the first stamp is."""
        stamp = of or self.entered()[0]
        for away, back, forth in (
            (x - stamp["x"], "ArrowLeft", "ArrowRight"),
            (y - stamp["y"], "ArrowDown", "ArrowUp"),
        ):
            arrow = forth if away > 0 else back
            for _ in range(int(abs(away) // 10)):
                self.page.keyboard.press(f"Shift+{arrow}")
            for _ in range(int(abs(away) % 10)):
                self.page.keyboard.press(arrow)

    def _on_handle(self, at: Point, corner: str) -> None:
        under = self.page.evaluate("([x, y]) => document.elementFromPoint(x, y)?.dataset.corner || ''", list(at))
        assert under == corner

    def _seen(self, page: int, x: float, y: float) -> Point:
        self.page.evaluate(_SCROLL, [page, y])
        return self.place(page, x, y)

    def place(self, page: int, x: float, y: float) -> Point:
        box = self.page.locator(f".sheet[data-page='{page}'] .paper").bounding_box()
        assert box
        scale = self.scale(page)
        return box["x"] + x * scale, box["y"] + box["height"] - y * scale


_SCROLL = """([page, y]) => {
    const sheet = document.querySelector(`.sheet[data-page="${page}"]`);
    const at = sheet.querySelector(".paper").getBoundingClientRect();
    const to = at.bottom - y * at.height / sheet.dataset.height;
    const top = document.querySelector(".workbar").getBoundingClientRect().bottom + 60;
    const foot = [".tools", ".panel"].map((name) => document.querySelector(name).getBoundingClientRect())
        .filter((each) => each.width >= innerWidth * 0.9).map((each) => each.top);
    const bottom = Math.min(innerHeight, ...foot) - 90;
    if (to < top || to > bottom) scrollBy({ top: to - (top + bottom) / 2, behavior: "instant" });
}"""
_BOXES = """() => [...document.querySelectorAll(".box")].map((box) => {
    const sheet = box.closest(".sheet"), at = box.getBoundingClientRect();
    const paper = sheet.querySelector(".paper").getBoundingClientRect();
    const unit = sheet.dataset.width / paper.width;
    return { page: Number(sheet.dataset.page), x: (at.left - paper.left) * unit, y: (paper.bottom - at.bottom) * unit,
        width: at.width * unit, height: at.height * unit };
})"""
