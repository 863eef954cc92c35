"""Clients go the whole way with the real service: those that generators make from the OpenAPI document alone, which is
enough, and the TypeScript client."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.service import Service
from tests.clients import typescript
from tests.contract import contract
from tests.scenarios.people import Backend, sign

PACKAGE = "paraph_generated"


class Generated:
    """The generated package: its models, and its operations with the client that they are called with. ``backend``: the
    same client, written by hand."""

    def __init__(self, client: Any, backend: Backend) -> None:
        self.client, self.backend = client, backend
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self.types = importlib.import_module(f"{PACKAGE}.types")

    def call(self, operation: str, *arguments: Any, **options: Any) -> Any:
        module = importlib.import_module(f"{PACKAGE}.api.{operation}")
        answer = module.sync_detailed(*arguments, client=self.client, **options)
        assert answer.status_code < 300, answer.content
        return answer.parsed


@pytest.fixture(scope="module")
def generated(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generated]:
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_bytes(httpx.get(f"{service.base_url}/api/v1/openapi.json").content)
    (folder / "config.yml").write_text("post_hooks: []\n")
    command = "from openapi_python_client.cli import app; app()"
    subprocess.run(
        [sys.executable, "-c", command, "generate", "--path", "openapi.json", "--config", "config.yml",
         "--output-path", PACKAGE, "--meta", "none", "--fail-on-warning"],
        cwd=folder, check=True, timeout=60,
    )  # fmt: skip
    sys.path.insert(0, str(folder))
    backend = Backend(service.base_url, service.new_key("pro", "sandbox"))
    client = importlib.import_module(f"{PACKAGE}.client").AuthenticatedClient(
        base_url=service.base_url,
        token=backend.api_key,
        prefix="",
        auth_header_name="X-Api-Key",
        raise_on_unexpected_status=True,
    )
    yield Generated(client, backend)
    client.get_httpx_client().close()
    sys.path.remove(str(folder))


@pytest.mark.thorough
def test_the_main_job(generated: Generated) -> None:
    models = generated.models
    file = generated.types.File(payload=BytesIO(contract()), file_name="lease.pdf", mime_type="application/pdf")
    document = generated.call("documents.upload_document", body=models.UploadDocumentBody(file=file))
    created = generated.call("signature_requests.create_signature_request", body=_creation(models, document.id))
    for person in created.signers:
        assert sign(person.signing_url).status_code == 200
    generated.backend.finalized(created.id)
    request = generated.call("signature_requests.read_signature_request", created.id)
    assert [urls.document_id for urls in request.download_urls] == [document.id]
    assert httpx.get(request.download_urls[0].signed_url).content.startswith(contract()[:1000])
    assert httpx.get(request.download_urls[0].certificate_url).content.startswith(b"%PDF-")


@pytest.mark.thorough
def test_collections(generated: Generated) -> None:
    models, limit = generated.models, {"limit": 1}
    requests = generated.call(
        "signature_requests.list_signature_requests", **limit, status=models.ListSignatureRequestsStatus.COMPLETED
    )
    assert requests.data[0].finalized and requests.pagination.count == 1
    journal = generated.call("signature_requests.list_audit_logs", requests.data[0].id, page=2, limit=3)
    assert [entry.event_type.value for entry in journal.data][:1] == ["signer.otp_sent"]
    order = models.ListDocumentsOrder.DESC
    assert generated.call("documents.list_documents", **limit, order=order).data[0].status.value == "ready"
    assert generated.call("branding_profiles.list_branding_profiles", **limit).data == []
    assert generated.call("service.read_health").environment.value == "sandbox"


@pytest.mark.thorough
def test_a_refusal_is_an_error_of_its_model(generated: Generated) -> None:
    module = importlib.import_module(f"{PACKAGE}.api.documents.read_document")
    answer = module.sync_detailed(2**40, client=generated.client)
    assert (answer.status_code, answer.parsed.error.code) == (404, "not_found")


def _creation(models: Any, document_id: int) -> Any:
    people = {
        "landlord": models.MagicFieldStamp("magic_field", models.Tag("{{signature:landlord}}")),
        "tenant": models.CoordinatesStamp("coordinates", models.Rectangle(page_number=1, x=300.0, y=60.0)),
    }
    signers = [
        models.SignerInput(ref=ref, first_name="Ada", last_name=ref, email=f"{ref}@client.example", order=order)
        for order, ref in enumerate(people, start=1)
    ]
    placed = [models.Assignment(ref, [stamp]) for ref, stamp in people.items()]
    mode = models.SignatureRequestInputMode.SEQUENTIAL
    documents = [models.DocumentInput(id=document_id, signers=placed)]
    return models.Creation(
        models.SignatureRequestInput(mode=mode, validity_days=7, signers=signers, documents=documents)
    )


@pytest.mark.thorough
def test_the_main_job_and_what_is_beside_it(service: Service, tmp_path: Path) -> None:
    client = typescript.compiled_client()
    (tmp_path / "lease.pdf").write_bytes(contract())
    typescript.run_tests(
        client / "test" / "service.test.js",
        PARAPH_URL=service.base_url,
        PARAPH_API_KEY=service.new_key("pro", "sandbox"),
        PARAPH_PDF=str(tmp_path / "lease.pdf"),
    )


@pytest.mark.thorough
def test_its_readme(service: Service, tmp_path: Path) -> None:
    """The blocks, in their order, are one program in strict mode."""
    client = typescript.compiled_client()
    (tmp_path / "contract.pdf").write_bytes(contract())
    known = {"PARAPH_URL": service.base_url, "PARAPH_API_KEY": service.new_key("free", "sandbox")}
    told = typescript.run("node", client / "test" / "readme.js", cwd=tmp_path, environment=known)
    assert "request.completed" in told and "404 not_found There is no such resource." in told
    assert [path.read_bytes()[:5] for path in tmp_path.glob("signed-*.pdf")] == [b"%PDF-"]
