"""Pictures of invitations that are over, and of how an account is kept: second factor, passkeys, recovery codes."""

import base64
import hmac
import re
import struct
import time
from pathlib import Path
from typing import Any

import psycopg

from lab.pictures.dashboard_camera import DASHBOARD_SCREENS, on_each_screen, visit
from paraph.postgres import embedded_url
from tests.browser.world import World, until
from tests.dashboard.editor_window import PASSWORD

_OWNER = "owner@lighthouse.example"
_INVITED = ("accepted", "withdrawn", "expired")
_KEY = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
_EXPIRED = "UPDATE members_invitation SET expires_at = now() WHERE email LIKE 'expired@%'"


def dashboard_accounts(world: World, browser: Any, folder: Path) -> None:
    organization = str(world.command("organization", "create", "Lighthouse", "--plan", "pro")["id"])
    member = ["--organization", organization, "--email", _OWNER, "--role", "owner", "--password-stdin"]
    world.run("member", "create", *member, given=f"{PASSWORD}\n").check_returncode()
    base = world.base_url.replace("127.0.0.1", "localhost")  # a passkey belongs to a host name, not to an IP address
    page = browser.new_context(**DASHBOARD_SCREENS["desk"], reduced_motion="reduce").new_page()
    _log_in(page, base)
    _invitations(world, page, f"{base}/app/{organization}/members", folder)
    _passkeys(page, f"{base}/account/2fa/", folder)
    _authenticator_app(page, f"{base}/account/2fa/", folder)
    _second_factor(page, base, folder)
    page.context.close()


def _log_in(page: Any, base: str) -> None:
    page.goto(f"{base}/account/login/")
    page.locator("[name=login]").fill(_OWNER)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main button.primary").click()


def _invitations(world: World, owner: Any, members: str, folder: Path) -> None:
    """Take pictures of each invitation that is over; one is accepted, which leads a newcomer to an account."""
    links: dict[str, str] = {}
    for name in _INVITED:
        owner.goto(members)
        owner.locator("[name=email]").fill(f"{name}@lighthouse.example")
        owner.locator("main form:has([name=email]) button.primary").click()
        owner.get_by_text(f"{name}@lighthouse.example").first.wait_for()
        until(lambda name=name: links.update(_mailed(world, name)) or name in links)
    owner.locator("tr", has_text="withdrawn@").get_by_role("button", name="Withdraw").click()
    owner.locator("tr", has_text="withdrawn@").wait_for(state="detached")
    with psycopg.connect(embedded_url(world.data_dir, None)) as connection:
        connection.execute(_EXPIRED)
    owner.goto(members)
    on_each_screen(owner, folder, "dashboard-members-invited")
    page = owner.context.browser.new_context(**DASHBOARD_SCREENS["desk"], reduced_motion="reduce").new_page()
    page.goto(links["accepted"])
    page.locator("main button.primary").click()
    on_each_screen(page, folder, "invitation-new-account")
    page.get_by_label("Name").fill("Grace Hopper")
    page.locator("[type=password]").fill(PASSWORD)
    page.locator("main button.primary").click()
    on_each_screen(page, folder, "invitation-to-accept")
    page.locator("main button.primary").click()
    page.wait_for_url("**/app/**")
    on_each_screen(page, folder, "invitation-first-look")
    page.context.clear_cookies()
    for name in _INVITED:
        page.goto(links[name])
        on_each_screen(page, folder, f"invitation-{name}")
    page.context.close()


def _mailed(world: World, name: str) -> dict[str, str]:
    mails = [mail["text"] for mail in world.inbox() if f"{name}@lighthouse.example" in str(mail)]
    return {name: re.findall(r"http\S+/invitations/\S+", mails[-1])[-1]} if mails else {}


def _passkeys(page: Any, factors: str, folder: Path) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": _KEY})
    visit(page, f"{factors}webauthn/add/")
    page.locator("[name=name]").fill("Phone")
    page.locator("[name=passwordless]").check()
    page.locator("#mfa_webauthn_add").click()
    page.wait_for_url(re.compile(r"/2fa/(?!webauthn/add)"))
    on_each_screen(page, folder, "account-passkey-added")
    visit(page, f"{factors}webauthn/")
    on_each_screen(page, folder, "account-passkeys-one")
    page.get_by_role("link", name="Rename").click()
    on_each_screen(page, folder, "account-passkey-rename")
    page.locator("[name=name]").fill("Key in the drawer of the desk on the second floor, beside the window")
    page.locator("main button.primary").click()
    on_each_screen(page, folder, "account-passkey-renamed")
    page.get_by_role("link", name="Remove").click()
    on_each_screen(page, folder, "account-passkey-remove")


def _authenticator_app(page: Any, factors: str, folder: Path) -> None:
    visit(page, f"{factors}totp/activate/")
    page.locator("[name=code]").fill("000000")
    page.locator("main button.primary").click()
    on_each_screen(page, folder, "account-authenticator-app-refused")
    visit(page, f"{factors}totp/activate/")
    page.locator("[name=code]").fill(_code(page.locator("dd code").inner_text()))
    page.locator("main button.primary").click()
    on_each_screen(page, folder, "account-authenticator-app-added")
    for name in ("totp/deactivate", "recovery-codes", "recovery-codes/generate"):
        visit(page, f"{factors}{name}/")
        on_each_screen(page, folder, f"account-{name.replace('/', '-')}")
    visit(page, factors)
    on_each_screen(page, folder, "account-second-factors")


def _code(secret: str) -> str:
    """Return the code that an authenticator app shows now (RFC 6238)."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    (value,) = struct.unpack_from(">I", digest, digest[-1] & 15)
    return f"{(value & 0x7FFFFFFF) % 10**6:06}"


def _second_factor(page: Any, base: str, folder: Path) -> None:
    page.context.clear_cookies()
    _log_in(page, base)
    on_each_screen(page, folder, "account-second-factor-asked")
    page.locator("[name=code]").fill("000000")
    page.locator("main button.primary").first.click()
    on_each_screen(page, folder, "account-second-factor-refused")
