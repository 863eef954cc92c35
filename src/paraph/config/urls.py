"""The whole URL map."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from paraph.api.v1.endpoint import endpoint
from paraph.api.v1.openapi import openapi
from paraph.api.v1.operations import routes
from paraph.authority import views as authority
from paraph.dashboard.account.pages import account, first_owner, mails
from paraph.dashboard.members import invitation
from paraph.dashboard.operator_pages import organization as operators_organization
from paraph.dashboard.operator_pages import page as operator
from paraph.dashboard.operator_pages import retry_request, retry_requests
from paraph.files.download import download
from paraph.health.pages import healthz, metrics, readyz
from paraph.reference.page import page as reference
from paraph.server.static_files import static_file
from paraph.signer.copies import copies, recipients_copy, recipients_proof, signers_copy, signers_proof, unsigned
from paraph.signer.documents import document_text, page_text
from paraph.signer.fields import fields, values_image
from paraph.signer.forms import ask, decline
from paraph.signer.notice import confirm_address, progress_view, whole_link
from paraph.signer.page import page
from paraph.signer.pictures import drawn_stamp, logo, page_image, typed_initials, typed_stamp
from paraph.signer.shell import embed_script, words_script
from paraph.signer.signature import otp, signature
from paraph.transparency import pages as transparency
from paraph.verify_page import views as verify

handler400 = "paraph.dashboard.middleware.bad_request"
handler403 = "paraph.dashboard.middleware.forbidden"
handler404 = "paraph.dashboard.middleware.not_found"
handler429 = "paraph.dashboard.middleware.too_many_requests"  # allauth's, where attempts are counted
handler500 = "paraph.dashboard.middleware.crashed"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/app/")),
    *routes(),
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
    re_path(r"^(?P<address>(?:sign|copies|confirm)/[\w.-]*[\w-])[^\w-]+$", whole_link),
    path("confirm/<str:token>", confirm_address),
    path("copies/<str:token>", copies),
    path("copies/<str:token>/documents/<int:document_id>.pdf", recipients_copy),
    path("copies/<str:token>/proof.pdf", recipients_proof),
    path("healthz", healthz),
    path("metrics", metrics),
    path("readyz", readyz),
    re_path("^docs/start/?$", RedirectView.as_view(url="/docs")),
    re_path("^docs(?:/(?P<topic>[a-z-]+))?/?$", reference),
    re_path(r"^docs/(?P<topic>[a-z-]+\.md)$", reference),
    re_path(r"^(?P<topic>llms\.txt)$", reference),
    path("invitations/<str:secret>", invitation, name="invitation"),
    path("files/<path:key>", download),
    path("operator", operator, name="operator"),
    path("operator/retry", retry_requests, name="operator_retry"),
    path("operator/requests/<int:request_id>/retry", retry_request, name="operator_retry_request"),
    path("operator/organizations/<int:organization_id>", operators_organization, name="operator_organization"),
    re_path("^sign/?$", page, {"token": ""}),
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
    path("sign/<str:token>/documents/<int:document_id>.pdf", unsigned),
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
    path("sign/<str:token>/documents/<int:document_id>/copy.pdf", signers_copy),
    path("sign/<str:token>/proof.pdf", signers_proof),
    path("sign/<str:token>/ask", ask),
    path("sign/<str:token>/decline", decline),
    path("static/<path:name>", static_file),
    re_path("^verify/?$", verify.page),
    path("verify/roots.pem", verify.roots),
    path("transparency/witness/add-checkpoint", transparency.witness),
    path("transparency/<path:path>", transparency.resource),
]
