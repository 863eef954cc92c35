"""Every page of the dashboard of a served process, with something on it."""

import re
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.cli.service import Service
from tests.dashboard.editor_window import Draft, begin_draft
from tests.pdf.pdf_factory import paper, text

_PEOPLE = b"""\
Tenant: First name,Tenant: Last name,Tenant: E-mail,Landlord: First name,Landlord: Last name,Landlord: E-mail
Ada,Byron,ada@example.com,Grace,Hopper,grace@example.com
Eve,X,nobody,Grace,Hopper,grace@example.com
"""


@dataclass
class ServedPages:
    """``addresses`` by the name of each in the URL map."""

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
        self.draft.switch(environment)

    def keep_proven(self) -> None:
        """Lets guarded pages open at once, however long ago the owner logged in; lists show production."""
        self.switch("production")
        if time.monotonic() - self._proved_at > 60:
            self.draft.prove_identity()
            self._proved_at = time.monotonic()


def served_pages(service: Service) -> ServedPages:
    """Fills the first organization and logs its owner in. Call it once for a service."""
    contract = paper(text("Lease of a house", 72, 750), text("{{ada}}", 72, 500), text("{{grace}}", 72, 300))
    draft = begin_draft(service, contract)
    desk = _Desk(draft)
    template = desk.template()
    request = desk.sent(template)
    bulk_send = desk.post(f"{template}/bulk", {}, {"file": ("people.csv", _PEOPLE, "text/csv")})
    application = desk.application()
    delivery = desk.post(f"{application}/deliveries/test", {})
    colors = {"background_color": "#fff8e7", "text_color": "#202030", "accent_color": "#c2410c"}
    profile = desk.post("/app/1/branding/new", {"name": "Harbour", **colors})
    desk.post("/app/1/members", {"email": "new@example.com", "role": "member"})
    step = draft.address.removeprefix(service.base_url).removesuffix("/places")
    document = f"/app/1/documents/{desk.first('/app/1/documents')}"
    found = _fixed() | {
        "application": application,
        "first_call": "/app/1/applications/1/first-call",  # that of the first start is of the sandbox
        "deliveries": f"{application}/deliveries",
        "delivery": delivery,
        "profile": profile,
        "delete_profile": f"{profile}/delete",
        "request": request,
        "end_early": f"{request}/end",
        "extend_request": f"{request}/extend",
        "correct_signer": f"{request}/signers/{desk.first_signer(request)}/correct",
        "remind": f"{request}/signers/{desk.first_signer(request)}/remind",
        "request_verify": f"{request}/verify",
        "save_request": f"{request}/template",
        "document": document,
        "delete_document": f"{document}/delete",
        "draft_documents": f"{step}/documents",
        "draft_signers": f"{step}/signers",
        "draft_places": f"{step}/places",
        "draft_review": f"{step}/review",
        "save_draft": f"{step}/template",
        "member": f"/app/1/members/{desk.first('/app/1/members')}",
        "template": template,
        "template_roles": f"{template}/roles",
        "template_options": f"{template}/options",
        "delete_template": f"{template}/delete",
        "bulk_upload": f"{template}/bulk",
        "bulk_send": bulk_send,
    }
    return ServedPages(draft, {name: service.base_url + each for name, each in found.items()})


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


class _Desk:
    """What the owner does at it, by plain forms."""

    def __init__(self, draft: Draft) -> None:
        self._browser = draft.browser
        self._step = draft.address.removeprefix(str(draft.browser.base_url).rstrip("/")).removesuffix("/places")
        self._token = _found(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.page("/app/1/"))

    def page(self, path: str) -> str:
        answer = self._browser.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.text

    def post(self, path: str, fields: dict[str, str], files: Any = None) -> str:
        """Returns where the form leads."""
        answer = self._send(path, fields, files)
        assert answer.status_code == 303, (path, answer.text)
        return answer.headers["Location"]

    def first(self, path: str) -> str:
        """The id of the first row."""
        return _found(r'<tr data-id="(\d+)"', self.page(path))

    def first_signer(self, request: str) -> str:
        return _found(r"/signers/(\d+)/", self.page(request))

    def template(self) -> str:
        self.page(f"{self._step}/places")  # puts stamps under the tags
        names = {"name": "Lease", "role-0": "Tenant", "role-1": "Landlord"}
        return self.post(f"{self._step}/template", names)

    def sent(self, template: str) -> str:
        """A request from the template."""
        people = [("Ada", "ada@example.com"), ("Grace", "grace@example.com")]
        fields = {"signer-TOTAL_FORMS": "2", "signer-INITIAL_FORMS": "2"}
        for row, (name, email) in enumerate(people):
            person = {"first_name": name, "last_name": "Byron", "email": email, "phone": "", "otp_channel": "email"}
            fields |= {f"signer-{row}-{field}": value for field, value in person.items()}
        review = self.post(template, fields)
        return self.post(review, {"locale": "en", "validity_days": "30", "action": "send"})

    def application(self) -> str:
        fields = {"name": "Shop", "environment": "production", "webhook_url": "https://hooks.example.com/in"}
        answer = self._send("/app/1/applications/new", fields, None)
        assert answer.status_code == 200 and "data-secret" in answer.text
        rows = re.findall(r'<tr data-id="(\d+)"', self.page("/app/1/applications"))
        return f"/app/1/applications/{max(rows, key=int)}"

    def _send(self, path: str, fields: dict[str, str], files: Any) -> httpx.Response:
        return self._browser.post(path, data={"csrfmiddlewaretoken": self._token, **fields}, files=files)


def _found(pattern: str, page: str) -> str:
    found = re.search(pattern, page)
    assert found, page
    return found[1]
