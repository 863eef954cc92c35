"""``python -m paraph_client mcp`` over standard input and output, asked by the client of the package mcp."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from paraph_client.inputs import AnyRequest
from tests.cli.service import Service
from tests.contract import contract
from tests.scenarios.people import Backend, at, signer

if TYPE_CHECKING:
    import mcp

TOOLS = ["find_requests", "list_templates", "prepare_draft", "preview_request", "read_request", "upload_document"]


class Assistant:
    """An assistant that uses the tools of the server."""

    def __init__(self, client: "mcp.Client") -> None:
        self.client = client

    async def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error and answer.structured_content, answer.content
        assert "/sign/" not in answer.model_dump_json()
        content: dict[str, Any] = answer.structured_content
        return content

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        return str(answer.content[0])


def assisted(service: Service, key: str, do: Callable[[Assistant], Awaitable[None]], *folders: Path) -> None:
    import mcp  # here, because it costs half a second, and every process collects the tests
    from mcp.client.stdio import StdioServerParameters

    environment = {"PARAPH_URL": service.base_url, "PARAPH_API_KEY": key}
    named = [argument for folder in folders for argument in ("--folder", str(folder))]
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "paraph_client", "mcp", *named], env=environment
    )

    async def run() -> None:
        async with mcp.Client(command) as client:
            await do(Assistant(client))

    asyncio.run(run())


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    path = tmp_path / "lease.pdf"
    path.write_bytes(contract())
    return path


def test_a_draft_is_prepared_and_nothing_is_sent(service: Service, lease: Path) -> None:
    backend = Backend(service.base_url, service.new_key("pro", "production"))

    async def prepare(assistant: Assistant) -> None:
        uploaded = await assistant.use("upload_document", file=str(lease))
        assert "{{signature:landlord}}" in [tag["tag"] for tag in uploaded["tags"]]
        documents = [{"id": uploaded["id"], "signers": [{"signer_ref": "tenant", "stamps": [at(page_number=1)]}]}]
        request = {"mode": "parallel", "validity_days": 7, "documents": documents}
        wrong = await assistant.use("preview_request", **request, signers=[signer("landlord")])
        assert not wrong["valid"] and wrong["problems"][0]["path"]
        right = await assistant.use("preview_request", **request, signers=[signer("tenant")])
        assert right["valid"] and right["placements"][0]["x"] == 72
        nobody = {"copies": [{"first_name": "Kim", "last_name": "Lee", "email": "kim"}]}
        wrong = await assistant.use("preview_request", **request, signers=[signer("tenant")], **nobody)
        assert [problem["path"] for problem in wrong["problems"]] == ["copies[0].email"]
        person = {"ref": "tenant", "first_name": "Ana"}
        assert "copies[0].email" in await assistant.refused("prepare_draft", documents=documents, **nobody)
        more = {"copies": [{**nobody["copies"][0], "email": "kim@example.com"}], "decline_allowed": True}
        more |= {
            "send_email": True,
            "reminders": {"every_days": 3, "at_most": 2},
            "redirect_url": "https://example.com/",
        }
        told = await assistant.refused("prepare_draft", documents=documents, remindrs={"every_days": 3})
        assert "prepare_draft has no argument remindrs; it takes mode, validity_days, signers, " in told
        misspelt = [{**person, "fist_name": "Ana"}]
        told = await assistant.refused("prepare_draft", documents=documents, signers=misspelt)
        assert "signers[0].fist_name: there is no such field here; did you mean first_name?" in told
        draft = await assistant.use(
            "prepare_draft", documents=documents, signers=[person], external_id="lease-9", **more
        )
        assert draft["review_url"].startswith(f"{service.base_url}/app/") and draft["status"] == "open"

    assisted(service, backend.api_key, prepare, lease.parent)
    assert backend.call("GET", "signature_requests").json()["data"] == []


def test_requests_are_found_and_read_without_their_signing_addresses(service: Service) -> None:
    import mcp

    backend = Backend(service.base_url, service.new_key("pro", "sandbox"))
    made = backend.ask("tenant", external_id="lease-9")

    async def look(assistant: Assistant) -> None:
        found = await assistant.use("find_requests", external_id="lease-9", status="pending")
        assert [request["id"] for request in found["data"]] == [made["id"]]
        assert (await assistant.use("find_requests", external_id="lease-8"))["data"] == []
        request = await assistant.use("read_request", request_id=made["id"])
        assert request["signers"][0]["email"] == "tenant@example.com"
        assert (await assistant.use("list_templates"))["data"] == []
        [template] = (await assistant.client.list_resource_templates()).resource_templates
        assert template.uri_template == "paraph://signature_requests/{request_id}/audit_logs"
        log = await assistant.client.read_resource(f"paraph://signature_requests/{made['id']}/audit_logs")
        entries = json.loads(getattr(log.contents[0], "text"))  # noqa: B009  contents may be bytes
        assert entries[0]["event_type"] == "signature_request.created"
        assert "404 not_found" in await assistant.refused("read_request", request_id=2**40)
        with pytest.raises(mcp.MCPError, match="404 not_found"):
            await assistant.client.read_resource(f"paraph://signature_requests/{2**40}/audit_logs")
        assert "No folder is named" in await assistant.refused("upload_document", file="/etc/passwd")
        assert "403 production_only" in await assistant.refused("prepare_draft", documents=[])

    assisted(service, backend.api_key, look)


def test_no_tool_sends_or_signs(service: Service) -> None:
    async def look(assistant: Assistant) -> None:
        tools = (await assistant.client.list_tools()).tools
        assert not any("  " in (tool.description or "") for tool in tools)
        assert sorted(tool.name for tool in tools) == TOOLS
        arguments = {tool.name: set(tool.input_schema["properties"]) for tool in tools}
        fields = set(get_type_hints(AnyRequest))
        assert arguments["preview_request"] == fields
        assert arguments["prepare_draft"] == fields - {"identity_declaration_accepted"}  # only a person may declare it
        for tool in tools:
            assert tool.input_schema["additionalProperties"] is False
            told = await assistant.refused(tool.name, no_argument=1)
            assert (
                f"{tool.name} has no argument no_argument; it takes {next(iter(tool.input_schema['properties']))}"
                in told
            )
            whole = {"copies", "decline_allowed"} <= tool.input_schema["properties"].keys()
            assert whole == (tool.name in {"prepare_draft", "preview_request"})
        reading = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
        assert reading == set(TOOLS) - {"upload_document", "prepare_draft"}

    assisted(service, service.new_key("pro", "sandbox"), look)


def test_what_is_missing_is_named() -> None:
    alone = "import sys; sys.modules['mcp'] = None; from paraph_client.__main__ import main; main()"
    environment = {"PARAPH_URL": "http://localhost:9", "PARAPH_API_KEY": "k"}
    nameless = {"PARAPH_URL": "localhost:9", "PARAPH_API_KEY": "k"}
    for env, missing in (
        (environment, "pip install 'paraph-client[mcp]'"),
        ({}, "PARAPH_URL is not set"),
        (nameless, "PARAPH_URL is “localhost:9”, which is no address"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", alone, "mcp"], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1 and missing in done.stderr
