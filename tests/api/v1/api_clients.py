"""Clients of the API, with keys of every kind, and what belongs to them."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from paraph.documents.models import Document
from paraph.kernel import tokens
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import BrandingProfile, Organization
from tests.api.v1 import contract
from tests.pdf.pdf_factory import paper, text
from tests.production import Client
from tests.tenancy import create_application

CONTRACT = paper(
    text("Between Ada and Grace", 72, 700) + text("{{ada}}", 100, 400) + text("{{grace}}", 300, 400),
    text("Second page", 72, 700),
    text("{{last}}", 100, 400),
)
REPLAYED = "Idempotent-Replayed"
KIM = {"first_name": "Kim", "last_name": "Clerk", "email": "kim@example.com"}
EVERY_OPTION: dict[str, Any] = {
    "mode": "parallel",
    "validity_days": 90,
    "send_email": True,
    "identity_declaration_accepted": True,
    "initials_required": True,
    "notify_signers_on_completion": True,
    "callback_url": "https://example.com/hook?x=1",
    "branding_profile_id": None,
    "external_id": "lease-4711",
    "metadata": {"property": "Lime Street 4", "a.b-c_D9": "", "unit": "3 é"},
    "redirect_url": "https://example.com/done?x=1#top",
    "reminders": {"every_days": 30, "at_most": 10},
    "copies": [KIM],
    "decline_allowed": True,
}
SHOWN_OPTIONS = EVERY_OPTION.keys() - {
    *("callback_url", "branding_profile_id", "send_email", "identity_declaration_accepted")
}
"""The options that answers have under the same name."""


@dataclass
class ApiClient:
    """A client with an API key; ``None`` for one without."""

    api_key: str | None
    organization: Organization | None = None
    headers: dict[str, str] = field(default_factory=dict)
    checked: bool = True  # False for rows that no call could have made

    def get(self, path: str, **query: Any) -> Any:
        return self._kept("GET", path, Client().get(f"/api/v1{path}", query_params=query, headers=self._headers()))

    def send(self, method: str, path: str, body: bytes = b"", content_type: str = "application/json") -> Any:
        response = Client().generic(method, f"/api/v1{path}", body, content_type, headers=self._headers())
        return self._kept(method, path, response)

    def post(self, path: str, content: Any) -> Any:
        return self.send("POST", path, json.dumps(content).encode())

    def create(self, payload: Any) -> Any:
        return self.post("/signature_requests", {"signature_request": payload})

    def upload(
        self, content: bytes = CONTRACT, content_type: str = "application/pdf", name: str = "contract.pdf"
    ) -> Any:
        file = SimpleUploadedFile(name, content, content_type)
        response = Client().post("/api/v1/documents", {"file": file}, headers=self._headers())
        return self._kept("POST", "/documents", response)

    def document(self) -> int:
        """Upload a document, and return its id."""
        response = self.upload()
        assert response.status_code == 201, response.content
        return int(response.json()["id"])

    def _kept(self, method: str, path: str, response: Any) -> Any:
        """Return the response, after checking that it is as the OpenAPI document promises."""
        if self.checked:
            contract.check(method, path, response)
        return response

    def _headers(self) -> dict[str, str]:
        return self.headers | ({} if self.api_key is None else {"X-Api-Key": self.api_key})


def api_client(plan: str = "pro", environment: str = "sandbox", organization: Organization | None = None) -> ApiClient:
    organization = organization or Organization.objects.create(name="Acme", plan=plan)
    made = create_application(organization.pk, environment, "shop")
    return ApiClient(made.api_key, organization)


def keyed(client: ApiClient, key: str) -> ApiClient:
    """Return the same client, with calls that carry the idempotency key."""
    return ApiClient(client.api_key, client.organization, client.headers | {"Idempotency-Key": key})


def other_clients(owner: ApiClient) -> dict[str, ApiClient]:
    """Clients with a live key that must not see what the owner has in the sandbox."""
    return {
        "other organization": api_client(),
        "other environment": api_client("pro", "production", owner.organization),
    }


def payload(document_id: int, **changes: Any) -> dict[str, Any]:
    """Return a creation of two signers on one document, one with a stamp by tag and one by coordinates."""
    assigned = [{"signer_ref": "ada", "stamps": [tag("{{ada}}")]}, {"signer_ref": "grace", "stamps": [rectangle()]}]
    return {
        "mode": "sequential",
        "validity_days": 7,
        "signers": [
            {"ref": "ada", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "order": 1},
            {"ref": "grace", "first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com", "order": 2},
        ],
        "documents": [{"id": document_id, "signers": assigned}],
    } | changes


def tag(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "magic_field", "value": {"tag": words}} | more


def rectangle(page_number: Any = 2, x: Any = 100, y: Any = 100, **more: Any) -> dict[str, Any]:
    return {"type": "coordinates", "value": {"page_number": page_number, "x": x, "y": y} | more}


def stored_document(owner: ApiClient, **fields: Any) -> Document:
    """Store a document without its file, for tests of lists, which open no file."""
    values: dict[str, Any] = {
        "organization": owner.organization,
        "environment": "sandbox",
        "name": "contract.pdf",
        "sha256": bytes(32),
        "file_size": 10,
        "pages": [[595, 842]],
        "status": "ready",
        "object_key": f"test/{tokens.random_hex(16)}",
    }
    return Document.objects.create(**values | fields)


def branding_profile(owner: ApiClient, name: str = "Blue") -> BrandingProfile:
    assert owner.organization
    colors = {"background_color": "#ffffff", "text_color": "#000000", "accent_color": "#1a2b3c"}
    return BrandingProfile.objects.create(organization=owner.organization, name=name, **colors)


def refused(owner: ApiClient, content: Any, code: str = "validation_error", status: int = 422) -> str:
    """Return the message of a refused creation, after checking that nothing was created."""
    message = error(owner.create(content), status, code)
    assert not SignatureRequest.objects.exists()
    return message


def error(response: Any, status: int, code: str) -> str:
    """Return the message of a refusal, after checking its envelope."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    content = response.json()
    assert set(content) == {"error"} and set(content["error"]) == {"code", "message"}
    assert content["error"]["code"] == code
    return str(content["error"]["message"])


def invalid(response: Any) -> str:
    """Return the message that says what is wrong with a body, a file or a query."""
    return error(response, 422, "validation_error")


def made(response: Any) -> dict[str, Any]:
    """Return the body of the answer to a call that created something."""
    assert response.status_code == 201, response.content
    answer: dict[str, Any] = response.json()
    return answer
