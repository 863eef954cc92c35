"""A newcomer in a browser, who knows nothing but the link that a first start prints."""

import hashlib
import hmac
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.browser.journey import Journey
from tests.cli.service import Service, wait_until
from tests.contract import contract

PASSWORD = "a long enough phrase"


def _nobody(name: str) -> None:
    """Looks at nothing."""


@dataclass
class Newcomer:
    """``folder`` is where their files are. ``seen`` is called on each page that a picture is made of, with its name."""

    service: Service
    page: Page
    folder: Path
    seen: Callable[[str], None] = _nobody

    def whole(self) -> None:
        """Goes through both doors, to a sealed file each."""
        self.begin()
        key, secret = self.use_the_api()
        self.home()
        sent = self.send()
        self.sign()
        self.sealed(sent, "lease.pdf")
        self.home()
        self.sealed(self.first_call(key, secret), "contract.pdf")

    def begin(self) -> None:
        """Becomes the first owner."""
        wait_until(lambda: "/account/first/" in "".join(self.service.output))
        link = next(line.strip() for line in self.service.output if "/account/first/" in line)
        assert link.startswith(f"http://localhost:{self.service.port}/"), "passkeys belong to a name"
        self.page.goto(link)
        self.page.get_by_label("Your name").fill("Ada Lovelace")
        self.page.get_by_label("E-mail").fill("ada@example.com")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Create my account").click()
        self.page.get_by_role("heading", name="Send a document").wait_for()
        self.seen("home")

    def use_the_api(self) -> tuple[str, str]:
        """Makes an application, and runs the line of the page that shows its key, which turns green by itself. Returns
        the key and the webhook secret."""
        page = self.page
        page.get_by_role("link", name="Applications").click()
        page.get_by_role("link", name="New application").first.click()
        page.get_by_label("Name").fill("Shop")
        page.get_by_role("button", name="Create the application").click()
        key = page.locator("[data-secret=api_key]").inner_text()
        secret = page.locator("[data-secret=webhook_secret]").inner_text()
        assert page.locator(".status.active").count() == 0
        run(page.locator("#curl").inner_text())
        page.locator(".status.active").wait_for()
        self.seen("key")
        return key, secret

    def home(self) -> None:
        self.page.goto(f"http://localhost:{self.service.port}/app/")

    def send(self) -> str:
        """Sends a document to themselves. Returns the address of the request."""
        page = self.page
        (self.folder / "lease.pdf").write_bytes(contract())
        page.get_by_label("PDF file").set_input_files(self.folder / "lease.pdf")
        page.get_by_role("button", name="Add me").click()
        expect(page.locator("[name=signer-0-email]")).to_have_value("ada@example.com")
        page.locator("button.primary[value=next]").click()
        page.get_by_role("button", name="Add stamp").click()
        expect(page.locator("[data-stamp]")).not_to_have_count(0)
        page.locator(".box").last.evaluate("(box) => box.scrollIntoView({ block: 'center' })")
        self.seen("places")
        page.locator("button.primary[value=next]").click()
        page.locator("button.primary[value=send]").click()
        page.wait_for_url(re.compile(r"/requests/\d+$"))
        return page.url

    def sign(self) -> None:
        """By the link and the code that were mailed."""
        page = self.page
        page.goto(self._mailed(r"http\S+/sign/[\w-]+"))
        journey = Journey(page)
        journey.to_signature()
        journey.to_confirm()
        page.locator("[data-send]").click()
        expect(page.locator("#code")).to_be_focused()
        page.locator("#consent").check()
        page.locator("#code").fill(self._mailed(r"\b\d{6}\b"))
        page.locator("[data-sign]").click()
        page.locator("body[data-state=signed]").wait_for()

    def first_call(self, key: str, secret: str) -> str:
        """Runs the lines of the page, signs with the code that the sandbox shows, and reads the webhook that was
        caught, all without loading the page again. Returns the address of the request."""
        page = self.page
        (self.folder / "contract.pdf").write_bytes(contract())
        page.get_by_role("link", name="Applications").click()
        page.get_by_role("link", name="Shop").click()
        page.get_by_role("link", name="First call").click()
        run(page.locator("#request").inner_text(), self.folder, KEY=key)
        page.get_by_role("button", name="Sign as yourself").click()
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open the signing page").click()
        Journey(opened.value).whole()
        opened.value.close()
        page.go_back()
        expect(page.locator(".steps .done")).to_have_count(4, timeout=30_000)
        caught = page.locator("details", has_text="request.completed")
        caught.locator("summary").click()
        headers, _, body = caught.locator("pre").inner_text().partition("\n\n")
        signature = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
        assert f"X-Service-Signature: sha256={signature}" in headers and '"certificate_url":"http' in body
        caught.evaluate("(row) => row.scrollIntoView({ block: 'center' })")
        self.seen("webhook")
        caught.get_by_role("link").click()
        expect(page.locator("#body")).to_contain_text("request.completed")
        expect(page.get_by_text("Nowhere: the application had no webhook URL")).to_be_visible()
        page.locator(".facts a").click()
        return page.url

    def sealed(self, address: str, name: str) -> None:
        """Finds the sealed PDF, which begins with the upload, on the page of the request."""
        self.page.goto(address)
        link = self.page.get_by_role("link", name=f"Download {name}")
        wait_until(lambda: bool(self.page.reload() and link.count()))
        self.seen("request")
        cookies = {each.get("name", ""): each.get("value", "") for each in self.page.context.cookies()}
        with httpx.Client(base_url=self.service.base_url, cookies=cookies, follow_redirects=True) as browser:
            content = browser.get(str(link.get_attribute("href"))).content
        assert content.startswith(contract()[:1000]) and b"/ETSI.CAdES.detached" in content

    def _mailed(self, pattern: str) -> str:
        """What the newest captured mail that has it says."""
        found: list[str] = []

        def look() -> bool:
            for message in self.service.inbox():
                found.extend(re.findall(pattern, message["text"]))
            return bool(found)

        wait_until(look)
        return found[-1]


def run(lines: str, folder: Path | None = None, **variables: str) -> None:
    """Runs lines as if they were pasted into a terminal."""
    subprocess.run(["bash", "-euc", lines], cwd=folder, env=os.environ | variables, capture_output=True, check=True)
