"""The whole URL map."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from paraph.api.v1 import sandbox_acts
from paraph.api.v1.audit_logs.routes import list_audit_logs
from paraph.api.v1.branding_profiles import list_branding_profiles
from paraph.api.v1.documents.routes import list_documents, read_document, upload_document
from paraph.api.v1.documents.tags import list_document_tags
from paraph.api.v1.drafts import create_draft, read_draft
from paraph.api.v1.endpoint import endpoint
from paraph.api.v1.events.routes import list_events
from paraph.api.v1.health import read_health
from paraph.api.v1.openapi.view import openapi
from paraph.api.v1.signature_requests.acts import end_signature_request, remind_signer
from paraph.api.v1.signature_requests.preview import preview_signature_request
from paraph.api.v1.signature_requests.routes import (
    create_signature_request,
    list_signature_requests,
    read_signature_request,
)
from paraph.api.v1.templates.routes import (
    create_template,
    delete_template,
    list_templates,
    read_template,
    send_template,
)
from paraph.authority import views as authority
from paraph.dashboard.account.first_owner import first_owner
from paraph.dashboard.account.mails import mails
from paraph.dashboard.account.page import account
from paraph.dashboard.invitation import invitation
from paraph.files.download import download
from paraph.health.pages import healthz, metrics, readyz
from paraph.reference.page import page as reference
from paraph.server.static_files import static_file
from paraph.signer import copies
from paraph.signer.ask import ask
from paraph.signer.confirm_address import confirm_address
from paraph.signer.decline import decline
from paraph.signer.download import copy as download_copy
from paraph.signer.download import proof as download_proof
from paraph.signer.download import unsigned as download_unsigned
from paraph.signer.fields import fields, values_image
from paraph.signer.logo import logo
from paraph.signer.otp import otp
from paraph.signer.page import page
from paraph.signer.page_image import page_image
from paraph.signer.page_text import document_text, page_text
from paraph.signer.progress import progress_view
from paraph.signer.shell import embed_script
from paraph.signer.signature import signature
from paraph.signer.stamp_picture import drawn_stamp, typed_initials, typed_stamp
from paraph.signer.words_script import words_script

handler400 = "paraph.dashboard.errors.bad_request"
handler403 = "paraph.dashboard.errors.forbidden"
handler404 = "paraph.dashboard.errors.not_found"
handler429 = "paraph.dashboard.errors.too_many_requests"  # allauth's, where attempts are counted
handler500 = "paraph.dashboard.errors.crashed"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/app/")),
    path("api/v1/signature_requests/<int:request_id>", endpoint(GET=read_signature_request)),
    path("api/v1/signature_requests", endpoint(GET=list_signature_requests, POST=create_signature_request)),
    path("api/v1/signature_requests/preview", endpoint(POST=preview_signature_request)),
    path("api/v1/signature_requests/<int:request_id>/end", endpoint(POST=end_signature_request)),
    path("api/v1/signature_requests/<int:request_id>/signers/<int:signer_id>/remind", endpoint(POST=remind_signer)),
    path("api/v1/signature_requests/<int:signature_request_id>/audit_logs", endpoint(GET=list_audit_logs)),
    path("api/v1/documents", endpoint(GET=list_documents, POST=upload_document)),
    path("api/v1/documents/<int:document_id>", endpoint(GET=read_document)),
    path("api/v1/documents/<int:document_id>/tags", endpoint(GET=list_document_tags)),
    path("api/v1/templates", endpoint(GET=list_templates, POST=create_template)),
    path("api/v1/templates/<int:template_id>", endpoint(GET=read_template, DELETE=delete_template)),
    path("api/v1/templates/<int:template_id>/signature_requests", endpoint(POST=send_template)),
    path("api/v1/drafts", endpoint(POST=create_draft)),
    path("api/v1/drafts/<int:draft_id>", endpoint(GET=read_draft)),
    path("api/v1/branding_profiles", endpoint(GET=list_branding_profiles)),
    path("api/v1/events", endpoint(GET=list_events)),
    path("api/v1/sandbox/signature_requests/<int:request_id>/expire", endpoint(POST=sandbox_acts.expire)),
    path(
        "api/v1/sandbox/signature_requests/<int:request_id>/signers/<int:signer_id>/sign",
        endpoint(POST=sandbox_acts.sign),
    ),
    path(
        "api/v1/sandbox/signature_requests/<int:request_id>/signers/<int:signer_id>/decline",
        endpoint(POST=sandbox_acts.decline),
    ),
    path("api/v1/health", endpoint(GET=read_health)),
    path("api/v1/openapi.json", openapi),
    re_path(r"^api/v1(?:/|$)", endpoint()),  # every other path: a refusal in the API's envelope
    path("account/", account, name="account"),
    path("account/mails/", mails, name="account_mails"),
    path("account/first/<str:token>/", first_owner, name="first_owner"),
    path("account/", include("allauth.urls")),
    path("app/", include("paraph.config.dashboard_urls")),
    path("authority/ocsp", authority.status),
    path("authority/revocations.crl", authority.revocations),
    path("authority/root.crt", authority.root),
    path("authority/timestamps", authority.timestamp),
    path("confirm/<str:token>", confirm_address),
    path("copies/<str:token>", copies.copies),
    path("copies/<str:token>/documents/<int:document_id>.pdf", copies.document),
    path("copies/<str:token>/proof.pdf", copies.proof),
    path("healthz", healthz),
    path("metrics", metrics),
    path("readyz", readyz),
    re_path("^docs/start/?$", RedirectView.as_view(url="/docs")),
    re_path("^docs(?:/(?P<topic>[a-z-]+))?/?$", reference),
    re_path(r"^docs/(?P<topic>[a-z-]+\.md)$", reference),
    re_path(r"^(?P<topic>llms\.txt)$", reference),
    path("invitations/<str:secret>", invitation, name="invitation"),
    path("files/<path:key>", download),
    path("sign/embed.js", embed_script),
    path("sign/words/<str:locale>.js", words_script),
    path("sign/<str:token>", page),
    path("sign/<str:token>/otp", otp),
    path("sign/<str:token>/fields", fields),
    path("sign/<str:token>/signature", signature),
    path("sign/<str:token>/stamp", drawn_stamp),
    path("sign/<str:token>/stamp.svg", typed_stamp),
    path("sign/<str:token>/initials.svg", typed_initials),
    path("sign/<str:token>/progress", progress_view),
    path("sign/<str:token>/logo.png", logo),
    path("sign/<str:token>/documents/<int:document_id>.pdf", download_unsigned),
    path("sign/<str:token>/documents/<int:document_id>/text", document_text),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>/text", page_text),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>-values.svg", values_image),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>.webp", page_image),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>-<int:zoom>.webp", page_image),
    path("sign/<str:token>/documents/<int:document_id>/pages/<int:number>-800-<int:part>.webp", page_image),
    path(
        "sign/<str:token>/documents/<int:document_id>/pages/<int:number>-print.webp",
        page_image,
        {"printed": True},
    ),
    path("sign/<str:token>/documents/<int:document_id>/copy.pdf", download_copy),
    path("sign/<str:token>/proof.pdf", download_proof),
    path("sign/<str:token>/ask", ask),
    path("sign/<str:token>/decline", decline),
    path("static/<path:name>", static_file),
]
