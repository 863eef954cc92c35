"""``python -m paraph_client mcp``: tools for assistants, over standard input and output.

Drafts for human approval: no tool sends a request, signs, or ends one, and none shows an address under which
somebody signs.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

import httpx
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool, ToolAnnotations
from pydantic import Field

from paraph_client.answers import SignatureRequest
from paraph_client.clients import AsyncClient
from paraph_client.connection import VERSION
from paraph_client.errors import ParaphError
from paraph_client.folders import read_pdf

P = ParamSpec("P")
T = TypeVar("T")
Json = dict[str, Any]
_READS = ToolAnnotations(read_only_hint=True)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
_INSTRUCTIONS = """Paraph has documents signed electronically. You can look at requests, upload PDFs, try out a request
and prepare one as a draft. You cannot send it: give the person the draft's review_url, where they look at it and send
it."""

RequestId = Annotated[int, Field(description="The request's id.")]
Page = Annotated[int | None, Field(description="From 1.")]
Limit = Annotated[int | None, Field(description="Entries of a page, 1 to 100.")]
Mode = Annotated[
    Literal["sequential", "parallel"] | None, Field(description="Whether signers sign in turn or in any order.")
]
Days = Annotated[int | None, Field(description="Days until the request expires, 1 to 90.")]
Signers = Annotated[
    list[Json] | None,
    Field(
        description='Each {"ref": a name of your choice, "first_name", "last_name", "email"}, "order" from 1 in '
        'sequential mode, and optionally "phone" (E.164), "otp_channel" ("email" or "sms"), "language" (such as "fr", '
        'where it is not the request\'s) and "role": "approver" for whoever only confirms.'
    ),
]
Documents = Annotated[
    list[Json] | None,
    Field(
        description='Each {"id": of an uploaded document, "signers": [{"signer_ref", "stamps"}]}. A stamp is {"type": '
        '"magic_field", "value": {"tag": a text of the document under which it stands}} or {"type": "coordinates", '
        '"value": {"page_number", "x", "y"}} in points from the bottom left, 200 wide and 80 high. "fields" beside '
        '"stamps" are what the signer fills in: {"name", "label", "placement": as a stamp, 160 wide and 18 high, '
        '"type": "text", "multiline", "number", "date", "checkbox", "choice" with "options", or "signed_on", '
        '"full_name", "email", which fill themselves}. An approver has neither.'
    ),
]
Copies = Annotated[
    list[Json] | None,
    Field(description='Who else gets a copy once everybody has signed: each {"first_name", "last_name", "email"}.'),
]
DeclineAllowed = Annotated[
    bool | None, Field(description="Whether a signer may decline, with a reason, which ends the request.")
]
SendEmail = Annotated[bool | None, Field(description="Whether the service invites the signers by e-mail.")]
Declared = Annotated[
    bool | None,
    Field(description="That the sender has identified the signers; needed to send e-mails. A person must say so."),
]
Initials = Annotated[bool | None, Field(description="Whether each signer also puts initials on every page.")]
Notified = Annotated[
    bool | None, Field(description="Whether signers get a summary by e-mail once everybody has signed.")
]
Reminders = Annotated[
    dict[str, int] | None,
    Field(
        description='Whoever has not signed is reminded: {"every_days": 1 to 30, "at_most": 1 to 10}; needs send_email.'
    ),
]
CallbackUrl = Annotated[
    str | None,
    Field(description="Is told, besides the application's webhook URL, when the request completes or expires."),
]
RedirectUrl = Annotated[
    str | None, Field(description="A page of yours to which a signer can continue once they have signed.")
]
Branding = Annotated[
    int | None, Field(description="The id of a branding profile: the colours and logo of pages and mails.")
]
ExternalId = Annotated[str | None, Field(description="An id of your own system, which comes back with the request.")]
Metadata = Annotated[dict[str, str] | None, Field(description="Data of your own, which come back with the request.")]


def serve(url: str, key: str, folders: Sequence[Path]) -> None:
    """Serve the tools until standard input ends. ``folders``: those that PDFs may be uploaded from."""
    server(AsyncClient(url, key), folders).run("stdio")


def server(client: AsyncClient, folders: Sequence[Path]) -> MCPServer[Any]:
    """The tools, which ask the service by this client."""
    made = _Server("paraph", instructions=_INSTRUCTIONS, version=VERSION, log_level="WARNING")

    @made.tool(annotations=_READS)
    @_telling(ToolError)
    async def find_requests(
        *,
        status: Literal["pending", "completed", "expired"] | None = None,
        external_id: ExternalId = None,
        created_after: Annotated[str | None, Field(description="A date or a time, as 2026-01-31.")] = None,
        created_before: Annotated[str | None, Field(description="A date or a time, as 2026-01-31.")] = None,
        order: Literal["asc", "desc"] | None = None,
        page: Page = None,
        limit: Limit = None,
    ) -> Json:
        """Find signature requests."""
        found = await client.signature_requests(
            status=status,
            external_id=external_id,
            created_after=created_after,
            created_before=created_before,
            order=order,
            page=page,
            limit=limit,
        )
        return {"data": [_shown(request) for request in found.data], "pagination": asdict(found.pagination)}

    @made.tool(annotations=_READS)
    @_telling(ToolError)
    async def read_request(request_id: RequestId) -> Json:
        """Read a signature request: who has signed, and where the results can be downloaded for 15 minutes."""
        return _shown(await client.signature_request(request_id))

    @made.tool(annotations=_ADDS)
    @_telling(ToolError)
    async def upload_document(
        file: Annotated[str, Field(description="The path of a PDF in one of the folders that the server was given.")],
    ) -> Json:
        """Upload a PDF to have it signed. Tags of the answer are texts under which stamps can stand."""
        name, content = read_pdf(file, folders)
        document = await client.upload_document(content, name)
        return {**asdict(document), "tags": [asdict(tag) for tag in await client.list_tags(document.id)]}

    @made.tool(annotations=_READS)
    @_telling(ToolError)
    async def preview_request(
        *,
        mode: Mode = None,
        validity_days: Days = None,
        signers: Signers = None,
        documents: Documents = None,
        copies: Copies = None,
        decline_allowed: DeclineAllowed = None,
        send_email: SendEmail = None,
        initials_required: Initials = None,
        notify_signers_on_completion: Notified = None,
        reminders: Reminders = None,
        callback_url: CallbackUrl = None,
        redirect_url: RedirectUrl = None,
        branding_profile_id: Branding = None,
        identity_declaration_accepted: Declared = None,
        external_id: ExternalId = None,
        metadata: Metadata = None,
    ) -> Json:
        """Try out a signature request: everything that is wrong with it, and where each stamp would stand. Creates
        nothing."""
        request: Json = {
            "mode": mode,
            "validity_days": validity_days,
            "signers": signers,
            "documents": documents,
            "copies": copies,
            "decline_allowed": decline_allowed,
            "send_email": send_email,
            "initials_required": initials_required,
            "notify_signers_on_completion": notify_signers_on_completion,
            "reminders": reminders,
            "callback_url": callback_url,
            "redirect_url": redirect_url,
            "branding_profile_id": branding_profile_id,
            "identity_declaration_accepted": identity_declaration_accepted,
            "external_id": external_id,
            "metadata": metadata,
        }
        return asdict(await client.preview_request(**request))

    @made.tool(annotations=_ADDS)
    @_telling(ToolError)
    async def prepare_draft(
        *,
        mode: Mode = None,
        validity_days: Days = None,
        signers: Signers = None,
        documents: Documents = None,
        copies: Copies = None,
        decline_allowed: DeclineAllowed = None,
        send_email: SendEmail = None,
        initials_required: Initials = None,
        notify_signers_on_completion: Notified = None,
        reminders: Reminders = None,
        callback_url: CallbackUrl = None,
        redirect_url: RedirectUrl = None,
        branding_profile_id: Branding = None,
        external_id: ExternalId = None,
        metadata: Metadata = None,
    ) -> Json:
        """Prepare a signature request, of which anything may be missing. Sends nothing: give the person review_url."""
        request: Json = {
            "mode": mode,
            "validity_days": validity_days,
            "signers": signers,
            "documents": documents,
            "copies": copies,
            "decline_allowed": decline_allowed,
            "send_email": send_email,
            "initials_required": initials_required,
            "notify_signers_on_completion": notify_signers_on_completion,
            "reminders": reminders,
            "callback_url": callback_url,
            "redirect_url": redirect_url,
            "branding_profile_id": branding_profile_id,
            "external_id": external_id,
            "metadata": metadata,
        }
        return asdict(await client.create_draft(**request))

    @made.tool(annotations=_READS)
    @_telling(ToolError)
    async def list_templates(page: Page = None, limit: Limit = None) -> Json:
        """List the templates that requests are made of."""
        found = await client.list_templates(page=page, limit=limit)
        return {"data": [asdict(each) for each in found.data], "pagination": asdict(found.pagination)}

    @made.resource("paraph://signature_requests/{request_id}/audit_logs", mime_type="application/json")
    @_telling(ResourceError)
    async def audit_log(request_id: int) -> list[Json]:
        """The audit log of a signature request, oldest entry first."""
        return [asdict(entry) async for entry in client.iter_audit_logs(request_id)]

    return made


class _Server(MCPServer[Any]):
    """Refuses arguments that a tool does not have, which would be dropped without a word."""

    async def list_tools(self) -> list[Tool]:
        closed = {"additionalProperties": False}
        return [
            tool.model_copy(update={"input_schema": tool.input_schema | closed}) for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: Json, context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        for tool in await self.list_tools():
            unknown = arguments.keys() - tool.input_schema["properties"].keys()
            if tool.name == name and unknown:
                known = ", ".join(tool.input_schema["properties"])
                raise ToolError(f"{name} has no argument {', '.join(sorted(unknown))}; it takes {known}.")
        return await super().call_tool(name, arguments, context)


def _telling(
    kind: type[ToolError] | type[ResourceError],
) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Awaitable[T]]]:
    """What the assistant is told of refusals, outages and missing files is what they say; other faults stay here."""

    def telling(do: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        @wraps(do)
        async def done(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return await do(*args, **kwargs)
            except (ParaphError, httpx.TransportError, OSError) as error:
                raise kind(str(error) or type(error).__name__) from error

        done.__doc__ = getdoc(do)  # without the indentation of this file
        return done

    return telling


def _shown(request: SignatureRequest) -> Json:
    """A request without the addresses under which its signers sign."""
    shown = asdict(request)
    for signer in shown["signers"]:
        del signer["signing_url"]
    return shown
