"""The first five minutes in Chromium: from the link that a start prints through both doors to signed, sealed PDFs."""

import hashlib
import hmac
import os
import re
import subprocess
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


def test_a_new_owner_goes_through_both_doors_and_gets_sealed_files(
    service: Service, page: Page, tmp_path: Path
) -> None:
    begin(service, page)
    key, secret = use_the_api(page)
    page.goto(f"http://localhost:{service.port}/app/")
    send(page, tmp_path)
    sent = page.url
    page.goto(mail(service, r"http\S+/sign/[\w-]+"))
    sign(service, page)
    sealed(page, service, sent, "lease.pdf")
    asked = first_call(service, page, key, secret, tmp_path)
    sealed(page, service, asked, "contract.pdf")


def begin(service: Service, page: Page) -> None:
    """Becomes the first owner."""
    wait_until(lambda: "/account/first/" in "".join(service.output))
    link = next(line.strip() for line in service.output if "/account/first/" in line)
    assert link.startswith(f"http://localhost:{service.port}/"), "passkeys belong to a name"
    page.goto(link)
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()


def use_the_api(page: Page) -> tuple[str, str]:
    """Makes an application, and runs the line of the page that shows its key, which turns green by itself. Returns the
    key and the webhook secret."""
    page.get_by_role("link", name="Use the API").click()
    page.get_by_role("link", name="New application").first.click()
    page.get_by_label("Name").fill("Shop")
    page.get_by_role("button", name="Make the application").click()
    key = page.locator("[data-secret=api_key]").inner_text()
    secret = page.locator("[data-secret=webhook_secret]").inner_text()
    assert page.locator(".status.active").count() == 0
    run(page.locator("#curl").inner_text())
    page.locator(".status.active").wait_for()
    return key, secret


def first_call(service: Service, page: Page, key: str, secret: str, folder: Path) -> str:
    """Runs the lines of the page, signs with the code that the sandbox shows, and reads the webhook that the catcher
    has, all without loading the page again. Returns the address of the request."""
    (folder / "contract.pdf").write_bytes(contract())
    page.goto(f"http://localhost:{service.port}/app/")
    page.get_by_role("link", name="Applications").click()
    page.get_by_role("link", name="Shop").click()
    page.get_by_role("link", name="First call").click()
    run(page.locator("#request").inner_text(), folder, KEY=key)
    page.get_by_role("button", name="Sign as yourself").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the signing page").click()
    Journey(opened.value).whole()
    page.go_back()
    expect(page.locator(".steps .done")).to_have_count(4, timeout=30_000)
    caught = page.locator("details", has_text="request.completed")
    caught.locator("summary").click()
    headers, _, body = caught.locator("pre").inner_text().partition("\n\n")
    signature = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
    assert f"X-Service-Signature: sha256={signature}" in headers and '"certificate_url":"http' in body
    caught.get_by_role("link").click()
    expect(page.locator("#body")).to_contain_text("request.completed")
    expect(page.get_by_text("nobody: the application had no webhook URL")).to_be_visible()
    page.locator(".facts a").click()
    return page.url


def run(lines: str, folder: Path | None = None, **variables: str) -> None:
    """As pasted into a terminal."""
    subprocess.run(["bash", "-euc", lines], cwd=folder, env=os.environ | variables, capture_output=True, check=True)


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


def sealed(page: Page, service: Service, address: str, name: str) -> None:
    """The request's page has a sealed PDF, which begins with the upload."""
    page.goto(address)
    wait_until(lambda: is_sealed(page, name))
    cookies = {each.get("name", ""): each.get("value", "") for each in page.context.cookies()}
    file = page.get_by_role("link", name=f"Download {name}").get_attribute("href")
    with httpx.Client(base_url=service.base_url, cookies=cookies, follow_redirects=True) as browser:
        content = browser.get(str(file)).content
    assert content.startswith(contract()[:1000]) and b"/ETSI.CAdES.detached" in content


def is_sealed(page: Page, name: str) -> bool:
    page.reload()
    return page.get_by_role("link", name=f"Download {name}").count() > 0


def mail(service: Service, pattern: str) -> str:
    """What the newest captured mail that has it says."""
    found: list[str] = []

    def look() -> bool:
        for message in service.inbox():
            found.extend(re.findall(pattern, message["text"]))
        return bool(found)

    wait_until(look)
    return found[-1]
