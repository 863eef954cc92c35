"""The whole URL map."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from paraph.api.v1.endpoint import endpoint
from paraph.api.v1.openapi import openapi
from paraph.api.v1.operations import routes
from paraph.authority import views as authority
from paraph.dashboard import members, operator_pages
from paraph.dashboard.account import pages
from paraph.files.download import download
from paraph.health.pages import healthz, metrics, readyz
from paraph.reference.page import page as reference
from paraph.server.static_files import static_file
from paraph.signer import copies, documents, fields, forms, notice, page, pictures, shell, signature
from paraph.transparency import pages as transparency
from paraph.verify_page import views as verify

handler400 = "paraph.dashboard.middleware.bad_request"
handler403 = "paraph.dashboard.middleware.forbidden"
handler404 = "paraph.dashboard.middleware.not_found"
handler429 = "paraph.dashboard.middleware.too_many_requests"  # for allauth, which counts attempts
handler500 = "paraph.dashboard.middleware.crashed"
_PAGE = "sign/<str:token>/documents/<int:document_id>/pages/<int:number>"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/app/")),
    *routes(),
    path("api/v1/openapi.json", openapi),
    re_path(r"^api/v1(?:/|$)", endpoint()),  # every other path: a refusal in the API's envelope
    path("account/", pages.account, name="account"),
    path("account/mails/", pages.mails, name="account_mails"),
    path("account/first/<str:token>/", pages.first_owner, name="first_owner"),
    path("account/", include("allauth.urls")),
    path("app/", include("paraph.config.dashboard_urls")),
    path("authority/ocsp", authority.status),
    path("authority/revocations.crl", authority.revocations),
    path("authority/root.crt", authority.root),
    path("authority/timestamps", authority.timestamp),
    re_path(r"^(?P<address>(?:sign|copies|confirm)/[\w.-]*[\w-])[^\w-]+$", notice.whole_link),
    path("confirm/<str:token>", notice.confirm_address),
    path("copies/<str:token>", copies.copies),
    path("copies/<str:token>/documents/<int:document_id>.pdf", copies.recipients_copy),
    path("copies/<str:token>/proof.pdf", copies.recipients_proof),
    path("healthz", healthz),
    path("metrics", metrics),
    path("readyz", readyz),
    re_path("^docs/start/?$", RedirectView.as_view(url="/docs")),
    re_path("^docs(?:/(?P<topic>[a-z-]+))?/?$", reference),
    re_path(r"^docs/(?P<topic>[a-z-]+\.md)$", reference),
    re_path(r"^(?P<topic>llms\.txt)$", reference),
    path("invitations/<str:secret>", members.invitation, name="invitation"),
    path("files/<path:key>", download),
    path("operator", operator_pages.page, name="operator"),
    path("operator/retry", operator_pages.retry_requests, name="operator_retry"),
    path("operator/requests/<int:request_id>/retry", operator_pages.retry_request, name="operator_retry_request"),
    path("operator/organizations/<int:organization_id>", operator_pages.organization, name="operator_organization"),
    re_path("^sign/?$", page.page, {"token": ""}),
    path("sign/embed.js", shell.embed_script),
    path("sign/words/<str:locale>.js", shell.words_script),
    path("sign/<str:token>", page.page),
    path("sign/<str:token>/otp", signature.otp),
    path("sign/<str:token>/fields", fields.fields),
    path("sign/<str:token>/signature", signature.signature),
    path("sign/<str:token>/stamp", pictures.drawn_stamp),
    path("sign/<str:token>/stamp.svg", pictures.typed_stamp),
    path("sign/<str:token>/initials.svg", pictures.typed_initials),
    path("sign/<str:token>/progress", notice.progress_view),
    path("sign/<str:token>/logo.png", pictures.logo),
    path("sign/<str:token>/documents/<int:document_id>.pdf", copies.unsigned),
    path("sign/<str:token>/documents/<int:document_id>/text", documents.document_text),
    path(f"{_PAGE}/text", documents.page_text),
    path(f"{_PAGE}-values.svg", fields.values_image),
    path(f"{_PAGE}.webp", pictures.page_image),
    path(f"{_PAGE}-<int:zoom>.webp", pictures.page_image),
    path(f"{_PAGE}-800-<int:part>.webp", pictures.page_image),
    path(f"{_PAGE}-print.webp", pictures.page_image, {"printed": True}),
    path("sign/<str:token>/documents/<int:document_id>/copy.pdf", copies.signers_copy),
    path("sign/<str:token>/proof.pdf", copies.signers_proof),
    path("sign/<str:token>/ask", forms.ask),
    path("sign/<str:token>/decline", forms.decline),
    path("static/<path:name>", static_file),
    re_path("^verify/?$", verify.page),
    path("verify/roots.pem", verify.roots),
    path("transparency/witness/add-checkpoint", transparency.witness),
    path("transparency/<path:path>", transparency.resource),
]
