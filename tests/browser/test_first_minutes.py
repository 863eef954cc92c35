"""The first five minutes: from a started service to a signed PDF in the browser in eleven clicks, or to a request of
two signers in ten; then from an application to a sealed PDF and its webhook."""

import hashlib
import hmac
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.journey import Journey
from tests.cli.service import Service, remove, wait_until
from tests.contract import contract
from tests.pdf.pdf_factory import paper, text

MOST_CLICKS, MOST_FIELDS = 11, 5
MOST_CLICKS_FOR_TWO = 10
PASSWORD = "a long enough phrase"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    served = Service(tmp_path / "data", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    served.begin()
    yield served
    served.stop()
    remove(served.data_dir)


class Hands:
    """Hands whose clicks are counted. A field that neither the page nor the Tab key leads to costs a click."""

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


def lease(*lines: str) -> bytes:
    """Return a PDF of twelve pages, the last with the lines to be signed on."""
    pages = [text(f"Lease, page {number}", 72, 750) for number in range(1, 12)]
    return paper(
        *pages, "".join(text(f"{line}: ____________________", 72, 500 - 120 * n) for n, line in enumerate(lines))
    )


def begun(service: Service, visit: Callable[..., Any], file: Path) -> Hands:
    """Make the first account and upload the file; return the hands that did so."""
    wait_until(lambda: "/account/first/" in "".join(service.output))
    first = next(line.strip() for line in service.output if "/account/first/" in line)
    assert first.startswith(f"http://localhost:{service.port}/"), "passkeys belong to a name"
    page = visit(first, statuses=(503,))  # a busy service may refuse pictures
    page.set_viewport_size({"width": 1280, "height": 900})
    hands = Hands(page)
    hands.type(page.get_by_label("Organization's name"), "Acme")
    hands.type(page.get_by_label("Your name"), "Ada Lovelace")
    hands.type(page.get_by_label("E-mail"), "ada@example.com")
    hands.type(page.get_by_label("Password"), PASSWORD)
    hands.click(page.get_by_role("button", name="Create my account"))
    with page.expect_file_chooser() as chooser:
        hands.click(page.get_by_role("button", name="Upload a PDF"))
    chooser.value.set_files(file)  # in a window of the operating system
    return hands


@pytest.mark.thorough
def test_two_signers_are_asked(service: Service, visit: Callable[..., Any], tmp_path: Path) -> None:
    """Each signs at a line that the document has for them."""
    file = tmp_path / "lease.pdf"
    file.write_bytes(lease("Signature of the landlord", "Signature of the tenant"))
    hands = begun(service, visit, file)
    page = hands.page
    for number, name in enumerate(("Marta", "Deniz")):
        if number:
            hands.click(page.get_by_role("button", name="Add signer"))
        hands.type(page.locator(f"[name=signer-{number}-email]"), f"{name}@example.com".lower())
        hands.type(page.locator(f"[name=signer-{number}-first_name]"), name)
        hands.type(page.locator(f"[name=signer-{number}-last_name]"), "Byron")
    hands.click(page.locator("button.primary[value=next]"))
    page.locator(".editor.live").wait_for()
    for line in ("landlord", "tenant"):
        if page.locator("[data-stamp]").count() < 2:  # a line that names a signer has their stamp already
            hands.click(page.get_by_role("button", name=f"Place a signature at “Signature of the {line}"))
    assert page.locator("[data-lacks-signer]:visible").count() == 0
    hands.click(page.locator("button.primary[value=next]"))
    hands.click(page.locator("button.primary[value=send]"))
    page.wait_for_url(re.compile(r"/requests/\d+$"))
    assert len(hands.clicks) <= MOST_CLICKS_FOR_TWO, hands.clicks
    wait_until(lambda: {"marta@example.com", "deniz@example.com"} <= {message["to"] for message in service.inbox()})


@pytest.mark.thorough
def test_the_first_five_minutes(service: Service, visit: Callable[..., Any], tmp_path: Path) -> None:
    """Register, upload, choose to sign alone, send, sign on the last page's line, and download the sealed PDF; then
    make an application and its first call, and find the sealed PDF on the page of its request."""
    file = tmp_path / "lease.pdf"
    file.write_bytes(lease("Signature"))
    hands = begun(service, visit, file)
    page = hands.page
    hands.click(page.get_by_role("button", name="Only I sign"))
    page.locator(".editor.live").wait_for()
    assert page.locator("[data-stamp] [name$=-page]").input_value() == "12"
    hands.click(page.locator("button.primary[value=next]"))
    page.wait_for_load_state("networkidle")  # sending removes the draft and its pictures
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
    page.get_by_role("link", name="Back to the request").click()
    page.wait_for_url("**/app/*/requests/*")

    (tmp_path / "contract.pdf").write_bytes(contract())
    page.goto(f"http://localhost:{service.port}/app/")
    key, secret = application(page)
    page.goto(f"http://localhost:{service.port}/app/")
    page.goto(first_call(page, tmp_path, key, secret))
    link = page.get_by_role("link", name="Download contract.pdf")
    wait_until(lambda: bool(page.reload() and link.count()))
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    with httpx.Client(base_url=service.base_url, cookies=cookies, follow_redirects=True) as browser:
        content = browser.get(str(link.get_attribute("href"))).content
    assert content.startswith(contract()[:1000]) and b"/ETSI.CAdES.detached" in content


def mailed_code(service: Service) -> str:
    def found() -> list[str]:
        return [code for message in service.inbox() for code in re.findall(r"\b\d{6}\b", message["text"])]

    wait_until(lambda: bool(found()))
    return found()[-1]


def application(page: Any) -> tuple[str, str]:
    """Make an application of the sandbox, and run the line of the page that shows its key; its status turns green
    by itself. Return the key and the webhook secret."""
    page.get_by_role("switch", name="Sandbox").click()
    page.get_by_role("link", name="Applications").click()
    page.get_by_role("link", name="New application").first.click()
    page.get_by_label("Name").fill("Shop")
    page.get_by_label("Environment").select_option("sandbox")
    page.get_by_role("button", name="Create the application").click()
    key = page.locator("[data-secret=api_key]").inner_text()
    secret = page.locator("[data-secret=webhook_secret]").inner_text()
    assert page.locator(".status.active").count() == 0
    run(page.locator("#curl").inner_text())
    page.locator(".status.active").wait_for()
    return key, secret


def first_call(page: Any, folder: Path, key: str, secret: str) -> str:
    """Run the lines of the page, sign with the code that the sandbox shows, and read the webhook that was caught, all
    without loading the page again. Return the address of the request."""
    page.get_by_role("link", name="Applications").click()
    page.get_by_role("link", name="Shop").click()
    page.get_by_role("link", name="First call").click()
    run(page.locator("#request").inner_text(), folder, KEY=key)
    steps = page.url
    page.get_by_role("button", name="Open your signing page").click()
    Journey(page).whole()
    page.goto(steps)
    expect(page.locator(".steps .done")).to_have_count(4, timeout=30_000)
    caught = page.locator("details", has_text="request.completed")
    caught.locator("summary").click()
    headers, _, body = caught.locator("pre").inner_text().partition("\n\n")
    signature = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
    assert f"X-Service-Signature: sha256={signature}" in headers and '"certificate_url":"http' in body
    caught.get_by_role("link").click()
    expect(page.locator("#body")).to_contain_text("request.completed")
    expect(page.get_by_text("Not sent: no webhook URL")).to_be_visible()
    page.locator(".facts a").click()
    return str(page.url)


def run(lines: str, folder: Path | None = None, **variables: str) -> None:
    """Run these lines as if they were pasted into a terminal."""
    subprocess.run(["bash", "-euc", lines], cwd=folder, env=os.environ | variables, capture_output=True, check=True)
