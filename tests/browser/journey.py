"""The steps of a signer, taken by hand."""

import re
from typing import Any


class Journey:
    """A page in the state ``ready``. Elements are found by what is the same in every language."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def to_signature(self) -> "Journey":
        self.page.locator(".bar a.primary").click()
        self.page.locator("#sign").wait_for()
        return self

    def draw(self, kind: str = "signature") -> None:
        box = self.page.locator(f"[data-kind={kind}]")
        box.locator("[name$=-type][value=drawn]").check()
        canvas = box.locator("canvas")
        canvas.scroll_into_view_if_needed()
        area = canvas.bounding_box()
        points = [(0.1, 0.6), (0.25, 0.2), (0.4, 0.75), (0.55, 0.3), (0.7, 0.7), (0.9, 0.4)]
        mouse = self.page.mouse
        for index, (x, y) in enumerate(points):
            mouse.move(area["x"] + x * area["width"], area["y"] + y * area["height"], steps=4)
            if index == 0:
                mouse.down()
        mouse.up()

    def strokes(self, kind: str = "signature") -> str:
        return str(self.page.locator(f"[name={kind}-strokes]").input_value())

    def to_confirm(self) -> "Journey":
        self.page.locator("#sign [href='#confirm']").click()
        self.page.locator("#confirm").wait_for()
        return self

    def code(self) -> str:
        """Have a code sent, and read it."""
        self.page.locator("[data-send]").click()
        return self.shown_code()

    def shown_code(self) -> str:
        """The code that was sent, where the test environment shows it."""
        shown = self.page.locator("#code-status").filter(has_text=re.compile(r"\d{6}"))
        found = re.search(r"\b\d{6}\b", shown.inner_text())
        assert found
        return found.group()

    def enter(self, code: str) -> None:
        """Consent, and send the code."""
        self.page.locator("#consent").check()
        self.page.locator("#code").fill(code)
        self.page.locator("[data-sign]").click()

    def confirm(self) -> None:
        self.enter(self.code())
        self.page.locator("body[data-state=signed]").wait_for()

    def whole(self) -> None:
        self.to_signature().to_confirm().confirm()
