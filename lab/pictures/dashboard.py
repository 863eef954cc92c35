"""Pictures of the dashboard: every page empty, filled and refused, on a phone, at a desk, and in the dark."""

import re
from pathlib import Path
from typing import Any

from lab.pictures.camera import SCREENS
from lab.pictures.dashboard_camera import DASHBOARD_SCREENS, on_each_screen, opened, picture, refusal, shot, windows
from lab.pictures.lived_in import asked, lived_in, prepared, signed
from tests.browser.contract import contract
from tests.browser.world import World, until
from tests.dashboard.editor_window import PASSWORD
from tests.dashboard.served_pages import ServedPages, served_pages
from tests.scenarios.people import Backend, signer

_EMPTY = ["", "requests", "drafts", "documents", "templates", "applications", "branding", "members", "activity", "plan"]
_STRANGERS = ["login", "signup", "password/reset", "password/reset/done", "password/reset/key/done", "inactive"]
_OF_SANDBOX = ["home", "requests", "documents", "templates", "applications", "drafts"]
_OF_ACCOUNT = {
    "passkeys": "2fa/webauthn/",
    "new-passkey": "2fa/webauthn/add/",
    "authenticator-app": "2fa/totp/activate/",
    "reauthenticate": "reauthenticate/",
}
_REFUSED = ["new_application", "new_profile", "members", "settings", "template", "template_roles"]
_REFUSED += [
    "draft_signers",
    "draft_places",
    "draft_review",
    "applications",
    "account_change_password",
    "account_email",
]
_IN_LANGUAGES = ["home", "requests", "members", "plan", "draft_documents", "draft_places", "draft_review"]
_IN_LANGUAGES += ["draft_prepared-unfinished"]


def dashboard(world: World, browser: Any, folder: Path) -> None:
    link = _first_link(world)
    for screen, context in windows(browser):
        picture(context, link, folder, "account-first-owner", screen)
        refusal(context, link, folder, "account-first-owner-refused", screen)
    pages = served_pages(world)
    pages.addresses["account_first-owner-outdated"] = link
    lived_in(world, pages)
    prepared(world, pages)
    for screen, context in windows(browser):
        _strangers(world, pages, context, folder, screen)
        context.add_cookies(pages.cookies)
        _filled(pages, context, folder, screen)
        _refusals(pages, context, folder, screen)
        _account(pages, context, folder, screen)
        _workspace(pages, context, folder, screen)
        _review(pages, context, folder, screen)
    _bulk_sent(pages, browser, folder)
    _first_call(world, pages, browser, folder)
    _empty(world, pages, browser, folder)
    _odd_screens(pages, browser, folder)
    _languages(pages, browser, folder)


def _first_link(world: World) -> str:
    until(lambda: "/account/first/" in "".join(world.output))
    link = next(line.strip() for line in world.output if "/account/first/" in line)
    return link.replace("//localhost:", "//127.0.0.1:")


def _strangers(world: World, pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    for name in _STRANGERS:
        picture(context, f"{pages.base_url}/account/{name}/", folder, f"account-{name.replace('/', '-')}", screen)
    refusal(context, f"{pages.base_url}/account/login/", folder, "account-login-refused", screen)
    picture(context, pages.addresses["account_first-owner-outdated"], folder, "account-first-owner-outdated", screen)
    link = _mailed(world, r"http\S+/invitations/\S+")
    picture(context, link, folder, "invitation", screen)
    picture(context, f"{link}x", folder, "invitation-unknown", screen)
    picture(context, f"{pages.base_url}/account/password/reset/key/1-set-x/", folder, "account-reset-link", screen)
    context.add_cookies(pages.cookies)
    picture(context, link, folder, "invitation-wrong-account", screen)


def _mailed(world: World, pattern: str) -> str:
    found: list[str] = []

    def look() -> bool:
        found.extend(re.findall(pattern, " ".join(mail["text"] for mail in world.inbox())))
        return bool(found)

    until(look)
    return found[-1]


def _filled(pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    for name, address in pages.addresses.items():
        pages.switch("production")
        picture(context, address, folder, f"dashboard-{name}", screen)
    pages.switch("sandbox")
    for name in _OF_SANDBOX:
        picture(context, pages.addresses[name], folder, f"sandbox-{name}", screen)
    pages.switch("production")


def _refusals(pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    for name in _REFUSED:
        refusal(context, pages.addresses[name], folder, f"refused-{name}", screen)
    with opened(context, pages.addresses["documents"]) as page:
        page.locator("#id_file").set_input_files({"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"no"})
        page.get_by_text("notes.pdf").first.wait_for()
        page.wait_for_timeout(800)
        shot(page, folder, "refused-upload", screen)


def _workspace(pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    """Take pictures of the first window of «Places»: with nothing selected, and with a signature over words."""
    with opened(context, pages.addresses["draft_places"]) as page:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"workspace.{screen}.png")
        page.locator("[data-field-type='']").click()
        page.locator(".paper").first.click(position={"x": 80, "y": 62})
        page.locator("[data-told]:visible").wait_for()
        page.screenshot(path=folder / f"workspace-remark.{screen}.png")
        page.locator("[data-do=delete]").click()
        page.locator("[data-count]:not(:visible)").wait_for(state="attached")


def _account(pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    for name, address in _OF_ACCOUNT.items():
        picture(context, f"{pages.base_url}/account/{address}", folder, f"account-{name}", screen)
    with opened(context, pages.addresses["request"]) as page:
        page.locator(".line .menu summary").first.click()
        shot(page, folder, "dashboard-request-actions", screen)
        page.get_by_role("button", name="Show the signing link").first.click()
        shot(page, folder, "dashboard-signing-link", screen)


def _bulk_sent(pages: ServedPages, browser: Any, folder: Path) -> None:
    """A bulk send once its rows are sent."""
    context = browser.new_context(**DASHBOARD_SCREENS["desk"], reduced_motion="reduce")
    context.add_cookies(pages.cookies)
    with opened(context, pages.addresses["bulk_send"]) as page:
        page.locator("#progress .primary").click()
        page.locator("#progress header .completed").wait_for()
        on_each_screen(page, folder, "dashboard-bulk_send-sent")
    context.close()


def _first_call(world: World, pages: ServedPages, browser: Any, folder: Path) -> None:
    """A new application: its secrets, then the page of its first call, step by step."""
    context = browser.new_context(**DASHBOARD_SCREENS["desk"], reduced_motion="reduce")
    context.add_cookies(pages.cookies)
    with opened(context, f"{pages.base_url}/app/1/applications/new") as page:
        page.get_by_label("Name").fill("Rent office")
        page.get_by_label("Environment").select_option("sandbox")
        page.locator("main .primary").click()
        key = page.locator("[data-secret=api_key]").inner_text()
        on_each_screen(page, folder, "dashboard-secrets")
        page.locator("main a.primary").click()
        on_each_screen(page, folder, "dashboard-first-call")
        address = page.url
        made = asked(Backend(world.base_url, key), contract(1), "contract.pdf", [signer("me", "Ada", "King")])
        page.locator("#sign").wait_for()
        on_each_screen(page, folder, "dashboard-first-call-asked")
        signed(Backend(world.base_url, key), made)
        page.locator(".steps .done >> nth=3").wait_for()
        page.locator("#progress summary").last.click()
        on_each_screen(page, folder, "dashboard-first-call-done")
        page.goto(address.replace("first-call", "deliveries"))
        on_each_screen(page, folder, "dashboard-deliveries-caught")
        page.locator("tbody a").first.click()
        on_each_screen(page, folder, "dashboard-delivery-caught")
    context.close()


def _empty(world: World, pages: ServedPages, browser: Any, folder: Path) -> None:
    """An organization in which nothing has happened yet, as its owner and as an observer see it."""
    organization = str(world.command("organization", "create", "Quay & Sons", "--plan", "free")["id"])
    for role, names in (("owner", _EMPTY), ("observer", ["", "requests", "applications", "members", "settings"])):
        email = f"{role}@quay.example"
        member = ["--organization", organization, "--email", email, "--role", role]
        _set_password(world.command("member", "create", *member)["link"], browser, folder)
        for screen, context in windows(browser):
            _log_in(context, pages.base_url, email)
            for name in names:
                picture(context, f"{pages.base_url}/app/{organization}/{name}", folder, f"{role}-{name}", screen)
            if role == "owner":
                _refused_production(context, f"{pages.base_url}/app/{organization}", folder, screen)


def _refused_production(context: Any, organization: str, folder: Path, screen: str) -> None:
    """The plan Free has no keys for production."""
    with opened(context, f"{organization}/applications/new") as page:
        page.get_by_label("Name").fill("Rent office")
        page.get_by_label("Environment").select_option("production")
        page.locator("main .primary").click()
        page.locator("[role=alert]").first.wait_for()
        shot(page, folder, "refused-production", screen)


def _review(pages: ServedPages, context: Any, folder: Path, screen: str) -> None:
    """Take pictures of «Review» as it is first seen and at its end, with all its options, and with a page enlarged."""
    with opened(context, pages.addresses["draft_review"]) as page:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"review-first.{screen}.png")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"review-scrolled.{screen}.png")
        page.locator(".send > details > summary").click()
        shot(page, folder, "review-more", screen)
        page.locator(".enlarge button").first.click()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"review-enlarged.{screen}.png")


def _set_password(link: str, browser: Any, folder: Path) -> None:
    context = browser.new_context(**DASHBOARD_SCREENS["phone"])
    with opened(context, link) as page:
        shot(page, folder, "account-set-password", "phone")
        for field in page.locator("[type=password]").all():
            field.fill(PASSWORD)
        page.locator("main button.primary").click()
        shot(page, folder, "account-password-set", "phone")
    context.close()


def _log_in(context: Any, base_url: str, email: str) -> None:
    with opened(context, f"{base_url}/account/login/") as page:
        page.locator("[name=login]").fill(email)
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("main button.primary").click()
        page.wait_for_url("**/app/**")


def _odd_screens(pages: ServedPages, browser: Any, folder: Path) -> None:
    for screen in ("narrow", "landscape"):
        context = browser.new_context(**SCREENS[screen], reduced_motion="reduce")
        context.add_cookies(pages.cookies)
        for name in ("home", "requests", "request_sealed", "draft_places", "draft_signers", "draft_review", "plan"):
            picture(context, pages.addresses[name], folder, f"dashboard-{name}", screen)
        context.close()
    context = browser.new_context(**SCREENS["desk"])
    context.add_cookies(pages.cookies)
    for name in ("request_sealed", "activity", "plan"):
        with opened(context, pages.addresses[name]) as page:
            page.pdf(path=folder / f"dashboard-{name}.print.pdf", format="A4")
    context.close()


def _languages(pages: ServedPages, browser: Any, folder: Path) -> None:
    """Take pictures of pages in languages with long words, where there is little room for them."""
    for locale in ("de", "pt"):
        for screen in ("narrow", "desk"):
            context = browser.new_context(**SCREENS[screen], locale=locale, reduced_motion="reduce")
            context.add_cookies(pages.cookies)
            for name in _IN_LANGUAGES:
                picture(context, pages.addresses[name], folder, f"dashboard-{name}-{locale}", screen)
            context.close()
