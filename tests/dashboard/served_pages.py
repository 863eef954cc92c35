"""Every page of the dashboard of a served process, with something on it."""

import re
import time
from dataclasses import dataclass, field
from typing import Any

from tests.cli.service import Service
from tests.dashboard.editor_window import PASSWORD, Draft, begin_draft, found, post, send, signers
from tests.pdf.pdf_factory import paper, text

_PEOPLE = b"""\
Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name,Landlord: E-mail
Ada,Byron,ada@example.com,Grace,Hopper,grace@example.com
Eve,X,nobody,Grace,Hopper,grace@example.com
"""


@dataclass
class ServedPages:
    """The dashboard of a served process; ``addresses`` has each address by its name in the URL map."""

    draft: Draft
    addresses: dict[str, str]
    _proved_at: float = field(default_factory=time.monotonic)

    @property
    def base_url(self) -> str:
        return str(self.draft.browser.base_url).rstrip("/")

    @property
    def cookies(self) -> list[Any]:
        return self.draft.cookies

    def switch(self, environment: str) -> None:
        """Make lists show the environment."""
        post(self.draft.browser, "/app/1/environment", {"to": environment}, page="/app/1/")

    def keep_proven(self) -> None:
        """Let guarded pages open at once, however long ago the owner gave their password, and lists show production."""
        self.switch("production")
        if time.monotonic() - self._proved_at > 60:
            post(self.draft.browser, "/account/reauthenticate/", {"password": PASSWORD})
            self._proved_at = time.monotonic()


def served_pages(service: Service) -> ServedPages:
    """Fill the first organization and log its owner in. Call this once for each service."""
    contract = paper(text("Lease of a house", 72, 750), text("{{ada}}", 72, 500), text("{{grace}}", 72, 300))
    draft = begin_draft(service, contract)
    browser = draft.browser

    def sent(path: str, fields: dict[str, str], files: Any = None) -> str:
        """Send the form and return where it leads; the token of any page is good for all forms."""
        return post(browser, path, fields, files, page="/app/1/")

    def rows(path: str) -> list[str]:
        return re.findall(r'<tr data-id="(\d+)"', browser.get(path).text)

    step = draft.address.removeprefix(service.base_url).removesuffix("/places")
    browser.get(f"{step}/places")  # opening the step puts stamps under the tags
    template = sent(f"{step}/template", {"name": "Lease", "role-0": "Tenant", "role-1": "Landlord"})
    review = sent(template, signers("Ada", "Grace", initial=2))
    request = sent(review, {"locale": "en", "validity_days": "30", "action": "send"})
    signer = found(r"/signers/(\d+)/", browser.get(request).text)
    bulk_send = sent(f"{template}/bulk", {}, {"file": ("people.csv", _PEOPLE, "text/csv")})
    shop = {"name": "Shop", "environment": "production", "webhook_url": "https://hooks.example.com/in"}
    assert "data-secret" in send(browser, "/app/1/applications/new", shop).text
    application = f"/app/1/applications/{max(rows('/app/1/applications'), key=int)}"
    delivery = sent(f"{application}/deliveries/test", {})
    colors = {"background_color": "#fff8e7", "text_color": "#202030", "accent_color": "#c2410c"}
    profile = sent("/app/1/branding/new", {"name": "Harbour", **colors})
    sent("/app/1/members", {"email": "new@example.com", "role": "member"})
    document = f"/app/1/documents/{rows('/app/1/documents')[0]}"
    addresses = _fixed() | {
        "application": application,
        "first_call": "/app/1/applications/1/first-call",  # the application of the first start is of the sandbox
        "deliveries": f"{application}/deliveries",
        "delivery": delivery,
        "profile": profile,
        "delete_profile": f"{profile}/delete",
        "request": request,
        "end_early": f"{request}/end",
        "extend_request": f"{request}/extend",
        "correct_signer": f"{request}/signers/{signer}/correct",
        "remind": f"{request}/signers/{signer}/remind",
        "request_verify": f"{request}/verify",
        "save_request": f"{request}/template",
        "document": document,
        "delete_document": f"{document}/delete",
        **{f"draft_{name}": f"{step}/{name}" for name in ("documents", "signers", "places", "review")},
        "save_draft": f"{step}/template",
        "member": f"/app/1/members/{rows('/app/1/members')[0]}",
        "template": template,
        "template_roles": f"{template}/roles",
        "template_options": f"{template}/options",
        "delete_template": f"{template}/delete",
        "bulk_upload": f"{template}/bulk",
        "bulk_send": bulk_send,
    }
    return ServedPages(draft, {name: service.base_url + each for name, each in addresses.items()})


def _fixed() -> dict[str, str]:
    organization = ["requests", "documents", "drafts", "templates", "applications", "branding", "members"]
    account = {
        "account": "",
        "account_email": "email/",
        "account_mails": "mails/",
        "mfa_index": "2fa/",
        "usersessions_list": "sessions/",
    }
    return {
        "home": "/app/1/",
        **{name: f"/app/1/{name}" for name in [*organization, "activity", "plan", "settings"]},
        "all_deliveries": "/app/1/deliveries",
        "new_application": "/app/1/applications/new",
        "new_profile": "/app/1/branding/new",
        **{name: f"/account/{rest}" for name, rest in account.items()},
        "account_change_password": "/account/password/change/",
        "account_logout": "/account/logout/",
    }
