"""Which roles may read and send forms at each address of the dashboard, and how forms without any entry are answered.

By the name of the address, or by its end where it has none. A new address needs a row here.
"""

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
    """The roles that may, and the status of the answer to them; the others get 403."""

    readers: str
    read: int
    senders: str
    sent: int


def _row(roles: str, read: int, sent: int, *, senders: str = "") -> Row:
    return Row(roles, read, senders or roles, sent)


MATRIX = {
    "home": _row(ALL, 200, 200),
    "environment": _row(BUILD, 405, 303),
    "applications": _row(BUILD, 200, 200),
    "new_application": _row(BUILD, 200, 422),
    "which_key": _row(BUILD, 405, 422),
    "application": _row(BUILD, 200, 200),
    "first_call": _row(BUILD, 200, 200),
    "key_used": _row(BUILD, 200, 200),
    "save_application": _row(BUILD, 405, 422),
    "revoke_application": _row(BUILD, 405, 422),
    "rotate_application": _row(BUILD, 405, 422),
    "end_key": _row(BUILD, 405, 303),
    "deliveries": _row(BUILD, 200, 200),
    "test_webhook": _row(BUILD, 405, 303),
    "delivery": _row(BUILD, 200, 200),
    "delivery_body": _row(BUILD, 200, 200),
    "resend": _row(BUILD, 405, 303),
    "all_deliveries": _row(BUILD, 200, 200),
    "branding": _row(BUILD, 200, 200),
    "new_profile": _row(BUILD, 200, 422),
    "profile": _row(BUILD, 200, 422),
    "delete_profile": _row(BUILD, 200, 303),
    "profile_logo": _row(BUILD, 405, 422),
    "logo_picture": _row(BUILD, 200, 200),
    "branding_preview": _row(BUILD, 200, 200),
    "branding_stylesheet": _row(BUILD, 200, 200),
    "branding/preview/stamp.svg": _row(BUILD, 200, 200),
    "branding/preview/documents/1/pages/1.webp": _row(BUILD, 200, 200),
    "branding/preview/signature-only/stamp.svg": _row(BUILD, 200, 200),
    "branding/preview/signature-only/documents/1/pages/1.webp": _row(BUILD, 200, 200),
    "requests": _row(ALL, 200, 200),
    "requests_export": _row(ALL, 405, 200),
    "request": _row(ALL, 200, 200),
    "sign_now": _row(SEND, 405, 303),
    "end_early": _row(SEND, 200, 303),
    "extend_request": _row(SEND, 200, 303),
    "duplicate_request": _row(SEND, 405, 303),
    "request_verify": _row(ALL, 200, 200),
    "request_proof": _row(ALL, 302, 303),
    "request_everything": _row(ALL, 200, 200),
    "request_file": _row(ALL, 302, 303),
    "request_page": _row(ALL, 200, 200),
    "signed_stamp": _row(ALL, 200, 200),
    "remind": _row(SEND, 200, 303),
    "correct_signer": _row(SEND, 200, 422),
    "signing_link": _row(SEND, 405, 200),
    "sign_here": _row(SEND, 405, 303),
    "documents": _row(ALL, 200, 422, senders=SEND),
    "document": _row(ALL, 200, 200),
    "delete_document": _row(SEND, 200, 422),
    "thumbnail": _row(ALL, 200, 200),
    "document_page": _row(ALL, 200, 200),
    "document_page_zoomed": _row(ALL, 200, 200),
    "drafts": _row(SEND, 200, 303),
    "draft_with_files": _row(SEND, 303, 303),
    "delete_draft": _row(SEND, 303, 303),
    "draft_documents": _row(SEND, 200, 303),
    "draft_signers": _row(SEND, 200, 422),
    "draft_places": _row(SEND, 200, 422),
    "draft_stamp": _row(SEND, 200, 200),
    "draft_values": _row(SEND, 200, 200),
    "draft_review": _row(SEND, 200, 422),
    "members": _row(ALL, 200, 422, senders=INVITE),
    "leave": _row(ALL, 405, 303),
    "member": _row(INVITE, 200, 422),
    "remove_member": _row(INVITE, 405, 303),
    "transfer_ownership": _row(RULE, 405, 303),
    "resend_invitation": _row(INVITE, 405, 303),
    "withdraw_invitation": _row(INVITE, 405, 303),
    "settings": _row(ALL, 200, 422, senders=BUILD),
    "request_defaults": _row(BUILD, 405, 422),
    "retention": _row(RULE, 405, 303),
    "delete_organization": _row(RULE, 405, 422),
    "activity": _row(ALL, 200, 200),
    "export_activity": _row(AUDIT, 405, 200),
    "plan": _row(ALL, 200, 200),
    "billed": _row(ALL, 200, 200),
    "save_draft": _row(SEND, 200, 422),
    "save_request": _row(SEND, 200, 422),
    "templates": _row(SEND, 200, 200),
    "template": _row(SEND, 200, 422),
    "template_roles": _row(SEND, 200, 422),
    "template_options": _row(SEND, 200, 422),
    "template_places": _row(SEND, 405, 303),
    "template_mail": _row(SEND, 200, 200),
    "delete_template": _row(SEND, 200, 303),
    "template_sample": _row(SEND, 200, 200),
    "bulk_upload": _row(SEND, 200, 422),
    "bulk_send": _row(SEND, 200, 200),
    "start_bulk_send": _row(SEND, 303, 303),
    "cancel_bulk_send": _row(SEND, 303, 303),
    "bulk_send_errors": _row(SEND, 200, 200),
}
FRESH = {
    *("new_application", "save_application", "revoke_application", "rotate_application", "end_key"),
    *("member", "remove_member", "leave", "transfer_ownership"),
    *("settings", "retention", "delete_organization"),
    *("signing_link", "sign_here", "requests_export", "export_activity"),
}
"""Whose forms ask who somebody is, five minutes after they last said so: what decides who gets in, who
hears of requests and may frame them, and how long files are kept, what opens signing pages, what hands over all."""

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
    "template_mail",  # in a frame of pages that say what is sent
    "bulk_send_errors",
}
PAGES = {name for name, row in MATRIX.items() if row.read == 200} - FILES
LISTS = {
    *("requests", "documents", "drafts", "templates", "applications", "deliveries", "all_deliveries", "branding"),
    *("members", "activity"),
}


def addresses() -> dict[str, str]:
    """The route of each address of an organization, from the URL map, as ``<int:organization_id>/…``."""
    return {name: route for name, route in _walked(dashboard_urls.urlpatterns, "") if "organization_id" in route}


def names() -> set[str]:
    """All of the URL map."""
    return {name for name, _ in _walked(dashboard_urls.urlpatterns, "")}


def operators_addresses() -> list[str]:
    """Those of the pages of operators, from the URL map, of the first request and organization."""
    routes = [str(pattern.pattern) for pattern in urls.urlpatterns if str(pattern.pattern).startswith("operator")]
    return ["/" + re.sub("<int:[a-z_]+>", "1", route) for route in routes]


def _walked(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _walked(pattern.url_patterns, route)
        else:
            yield pattern.name or route.removeprefix("<int:organization_id>/"), route
