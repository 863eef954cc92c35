"""Which roles may read and send forms at each address of the dashboard, and how forms without any entry are answered.

Each address is listed by its name, or by its end where it has no name. A new address needs a place here."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver

from paraph.config import dashboard_urls, urls

ALL = "owner admin member observer"
SEND = "owner admin member"
BUILD = INVITE = "owner admin"
RULE = "owner"
AUDIT = "owner admin observer"


class Row(NamedTuple):
    """The roles that may read and send forms, and the status of the answer to each; other roles get 403."""

    readers: str
    senders: str
    read: int
    sent: int


_GROUPS: list[tuple[str, str, int, int, str]] = [
    (ALL, ALL, 200, 200,
     "home requests request request_verify request_everything request_page signed_stamp document thumbnail "
     "document_page document_page_zoomed activity plan billed"),
    (ALL, ALL, 405, 200, "requests_export"),
    (ALL, ALL, 302, 303, "request_proof request_file"),
    (ALL, ALL, 405, 303, "leave"),
    (ALL, SEND, 200, 422, "documents"),
    (ALL, BUILD, 200, 422, "settings"),
    (ALL, INVITE, 200, 422, "members"),
    (AUDIT, AUDIT, 405, 200, "export_activity"),
    (SEND, SEND, 405, 303, "sign_now duplicate_request sign_here template_places"),
    (SEND, SEND, 200, 303, "end_early extend_request remind drafts draft_documents delete_template"),
    (SEND, SEND, 200, 422,
     "correct_signer delete_document draft_signers draft_places draft_review save_draft save_request "
     "template template_roles template_options bulk_upload"),
    (SEND, SEND, 405, 200, "signing_link"),
    (SEND, SEND, 303, 303, "draft_with_files delete_draft start_bulk_send cancel_bulk_send"),
    (SEND, SEND, 200, 200,
     "draft_stamp draft_values templates template_mail template_sample bulk_send bulk_send_errors"),
    (BUILD, BUILD, 405, 303, "environment end_key test_webhook resend"),
    (BUILD, BUILD, 200, 200,
     "applications application first_call key_used deliveries delivery delivery_body all_deliveries "
     "branding logo_picture branding_preview branding_stylesheet branding/preview/stamp.svg "
     "branding/preview/documents/1/pages/1.webp branding/preview/signature-only/stamp.svg "
     "branding/preview/signature-only/documents/1/pages/1.webp"),
    (BUILD, BUILD, 200, 422, "new_application new_profile profile"),
    (BUILD, BUILD, 405, 422,
     "which_key save_application revoke_application rotate_application profile_logo request_defaults"),
    (BUILD, BUILD, 200, 303, "delete_profile"),
    (INVITE, INVITE, 200, 422, "member"),
    (INVITE, INVITE, 405, 303, "remove_member resend_invitation withdraw_invitation"),
    (RULE, RULE, 405, 303, "transfer_ownership retention"),
    (RULE, RULE, 405, 422, "delete_organization"),
]  # fmt: skip
"""Who may read and who may send a form, the status of the answer to each, and the names of the addresses."""

MATRIX = {
    name: Row(readers, senders, read, sent) for readers, senders, read, sent, names in _GROUPS for name in names.split()
}
FRESH = {
    "new_application", "save_application", "revoke_application", "rotate_application", "end_key",
    "member", "remove_member", "leave", "transfer_ownership",
    "settings", "retention", "delete_organization",
    "signing_link", "sign_here", "requests_export", "export_activity",
}  # fmt: skip
"""Addresses whose forms ask members to prove again who they are, five minutes after they last did. They decide who
gets in, who hears of requests or may frame them, and how long files are kept; open signing pages; or export all."""

BESIDE_ORGANIZATIONS = {"organizations", "new_organization"}
FILES = {
    "request_everything",
    "delivery_body",
    "branding_preview",  # a signing page; the pages of branding show it in a frame
    "branding_stylesheet",
    "logo_picture",
    "branding/preview/stamp.svg",
    "branding/preview/documents/1/pages/1.webp",
    "branding/preview/signature-only/stamp.svg",
    "branding/preview/signature-only/documents/1/pages/1.webp",
    "billed",
    "thumbnail",
    "document_page",
    "document_page_zoomed",
    "request_page",
    "signed_stamp",
    "draft_stamp",
    "draft_values",
    "template_sample",
    "template_mail",  # framed by the pages that show what is sent
    "bulk_send_errors",
}
PAGES = {name for name, row in MATRIX.items() if row.read == 200} - FILES
LISTS = {
    "requests", "documents", "drafts", "templates", "applications", "deliveries", "all_deliveries", "branding",
    "members", "activity",
}  # fmt: skip


def addresses() -> dict[str, str]:
    """The route of each address of an organization, from the URL map, as ``<int:organization_id>/…``."""
    return {name: route for name, route in _walked(dashboard_urls.urlpatterns, "") if "organization_id" in route}


def names() -> set[str]:
    """Return the names of all addresses in the URL map."""
    return {name for name, _ in _walked(dashboard_urls.urlpatterns, "")}


def operators_addresses() -> list[str]:
    """Return the addresses of the operators' pages, from the URL map, for the first request and organization."""
    routes = [str(pattern.pattern) for pattern in urls.urlpatterns if str(pattern.pattern).startswith("operator")]
    return ["/" + re.sub("<int:[a-z_]+>", "1", route) for route in routes]


def _walked(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _walked(pattern.url_patterns, route)
        else:
            yield pattern.name or route.removeprefix("<int:organization_id>/"), route
