"""The first five minutes in Chromium: from the link that a start prints to a signed, sealed PDF."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from paraph.cli.demo.contract import contract
from tests.browser.journey import Journey
from tests.cli.service import Service, remove, wait_until

CHROMIUM = "/usr/bin/chromium"
PASSWORD = "a long enough phrase"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    served = Service(tmp_path / "data", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    served.begin()
    yield served
    served.stop()
    remove(served.data_dir)


@pytest.fixture
def page() -> Iterator[Page]:
    """Fails the test where a page logs an error."""
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        yield page
        browser.close()
    assert wrong == []


def test_a_new_owner_sends_a_document_to_themselves_and_gets_it_sealed(
    service: Service, page: Page, tmp_path: Path
) -> None:
    wait_until(lambda: "/account/first/" in "".join(service.output))
    link = next(line.strip() for line in service.output if "/account/first/" in line)
    assert link.startswith(f"http://localhost:{service.port}/"), "passkeys belong to a name"
    page.goto(link)
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()
    send(page, tmp_path)
    page.goto(mail(service, r"http\S+/sign/[\w-]+"))
    sign(service, page)
    sealed(page, service)


def send(page: Page, folder: Path) -> None:
    """The four steps of «Send a document», to the sender."""
    (folder / "lease.pdf").write_bytes(contract())
    page.get_by_role("button", name="Send a document").click()
    page.get_by_label("PDF file").set_input_files(folder / "lease.pdf")
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("link", name="lease.pdf").wait_for()
    page.locator("button.primary[value=next]").click()
    page.get_by_label("First name").first.fill("Ada")
    page.get_by_label("Last name").first.fill("Lovelace")
    page.locator("[name=signer-0-email]").fill("ada@example.com")
    page.locator("button.primary[value=next]").click()
    page.get_by_role("button", name="Add stamp").click()
    expect(page.locator("[data-stamp]")).not_to_have_count(0)
    page.locator("button.primary[value=next]").click()
    page.locator("button.primary[value=send]").click()
    page.wait_for_url(re.compile(r"/requests/\d+$"))


def sign(service: Service, page: Page) -> None:
    signer = Journey(page)
    signer.to_signature()
    signer.to_confirm()
    page.locator("[data-send]").click()
    expect(page.locator("#code")).to_be_focused()
    page.locator("#consent").check()
    page.locator("#code").fill(mail(service, r"\b\d{6}\b"))
    page.locator("[data-sign]").click()
    page.locator("body[data-state=signed]").wait_for()


def sealed(page: Page, service: Service) -> None:
    """The request's page has a sealed PDF, which begins with the upload."""
    page.goto(f"http://localhost:{service.port}/app/")
    page.locator("table a").first.click()
    wait_until(lambda: is_sealed(page))
    cookies = {each.get("name", ""): each.get("value", "") for each in page.context.cookies()}
    file = page.get_by_role("link", name="Download lease.pdf").get_attribute("href")
    with httpx.Client(base_url=service.base_url, cookies=cookies, follow_redirects=True) as browser:
        content = browser.get(str(file)).content
    assert content.startswith(contract()[:1000]) and b"/ETSI.CAdES.detached" in content


def is_sealed(page: Page) -> bool:
    page.reload()
    return page.get_by_role("link", name="Download lease.pdf").count() > 0


def mail(service: Service, pattern: str) -> str:
    """What the newest captured mail that has it says."""
    found: list[str] = []

    def look() -> bool:
        for message in service.inbox():
            found.extend(re.findall(pattern, message["text"]))
        return bool(found)

    wait_until(look)
    return found[-1]
