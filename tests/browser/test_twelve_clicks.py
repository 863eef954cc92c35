"""The first five minutes: from a started service to a signed PDF in the browser, in twelve clicks, whoever counts; then
from an application to a sealed PDF and its webhook."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.service import Service, remove, wait_until
from tests.contract import contract
from tests.dashboard.newcomer import PASSWORD, Newcomer

MOST_CLICKS, MOST_FIELDS = 12, 5


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    served = Service(tmp_path / "data", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    served.begin()
    yield served
    served.stop()
    remove(served.data_dir)


class Hands:
    """Somebody's hands, which are counted. A field to which neither the page nor the Tab key leads costs a click."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.clicks: list[str] = []
        self.fields: list[str] = []

    def click(self, what: Any) -> None:
        self.clicks.append(what.inner_text() or str(what.get_attribute("id")))
        what.click()

    def type(self, field: Any, text: str) -> None:
        field.wait_for()
        for _ in range(3):
            if field.evaluate("(field) => field === document.activeElement"):
                break
            self.page.keyboard.press("Tab")
        else:
            self.click(field)
        self.fields.append(text)
        self.page.keyboard.type(text)


@pytest.mark.thorough
def test_the_first_five_minutes(service: Service, visit: Callable[..., Any], tmp_path: Path) -> None:
    """Registration, upload, oneself as the signer, a place, sent, signed, and the sealed PDF in one's downloads; an
    application, its first call, and the sealed PDF on the page of its request."""
    file = tmp_path / "lease.pdf"
    file.write_bytes(contract())
    wait_until(lambda: "/account/first/" in "".join(service.output))
    link = next(line.strip() for line in service.output if "/account/first/" in line)
    assert link.startswith(f"http://localhost:{service.port}/"), "passkeys belong to a name"
    page = visit(link)
    page.set_viewport_size({"width": 1280, "height": 900})
    hands = Hands(page)
    hands.type(page.get_by_label("Organization's name"), "Acme")
    hands.type(page.get_by_label("Your name"), "Ada Lovelace")
    hands.type(page.get_by_label("E-mail"), "ada@example.com")
    hands.type(page.get_by_label("Password"), PASSWORD)
    hands.click(page.get_by_role("button", name="Create my account"))
    with page.expect_file_chooser() as chooser:
        hands.click(page.get_by_role("button", name="Upload a PDF"))
    chooser.value.set_files(file)  # in a window of the system
    hands.click(page.get_by_role("button", name="Only I sign"))
    hands.click(page.get_by_role("button", name="Add stamp"))
    page.locator("[data-stamp]").first.wait_for()
    hands.click(page.locator("button.primary[value=next]"))
    hands.click(page.get_by_role("button", name="Send and sign"))
    hands.click(page.locator(".bar a.primary"))
    hands.click(page.locator("#sign [href='#confirm']"))
    hands.click(page.locator("[data-send]"))
    hands.type(page.locator("#code"), mailed_code(service))
    hands.click(page.locator("#consent"))
    hands.click(page.locator("[data-sign]"))
    copy = page.locator("#done [data-copy]").first
    copy.wait_for(timeout=60_000)
    with page.expect_download() as download:
        hands.click(copy)
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(file.read_bytes()[:1000]) and b"/ETSI.CAdES.detached" in content
    assert len(hands.clicks) <= MOST_CLICKS, hands.clicks
    assert len(hands.fields) <= MOST_FIELDS, hands.fields

    newcomer = Newcomer(service, page, tmp_path)
    newcomer.home()
    key, secret = newcomer.use_the_api()
    newcomer.home()
    newcomer.sealed(newcomer.first_call(key, secret), "contract.pdf")


def mailed_code(service: Service) -> str:
    found: list[str] = []

    def look() -> bool:
        for message in service.inbox():
            found.extend(re.findall(r"\b\d{6}\b", message["text"]))
        return bool(found)

    wait_until(look)
    return found[-1]
