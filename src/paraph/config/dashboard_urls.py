"""The addresses of the dashboard, below ``/app/``."""

from django.urls import URLPattern, URLResolver, include, path

from paraph.dashboard.activity import activity, export_activity
from paraph.dashboard.applications.applications import (
    application,
    applications,
    end_key,
    new_application,
    revoke,
    rotate,
    save_settings,
    which_key,
)
from paraph.dashboard.applications.deliveries import (
    all_deliveries,
    deliveries,
    delivery,
    first_call,
    key_used,
    resend_delivery,
    signed_body,
    test_webhook,
)
from paraph.dashboard.branding import branding, logo, preview, profile, sample_page, sample_stamp, stylesheet
from paraph.dashboard.branding import delete as delete_profile
from paraph.dashboard.branding import profile_logo as logo_picture
from paraph.dashboard.documents import delete as delete_document
from paraph.dashboard.documents import document, documents, picture, small_picture
from paraph.dashboard.drafts.drafts import begin_with_files, documents_step, drafts
from paraph.dashboard.drafts.drafts import delete as delete_draft
from paraph.dashboard.drafts.places_step import places_step, stamp_picture, values_picture
from paraph.dashboard.drafts.review_step import review_step
from paraph.dashboard.drafts.signers_step import signers_step
from paraph.dashboard.home import home, new_organization, organizations, switch_environment
from paraph.dashboard.members import leave, members, person, remove, resend, transfer, withdraw
from paraph.dashboard.organization_settings import defaults, delete, retention, settings
from paraph.dashboard.plan import billed, plan
from paraph.dashboard.repair import correct_signer, extend_request
from paraph.dashboard.request_templates.bulk import bulk_send, bulk_upload, errors_csv, sample_csv
from paraph.dashboard.request_templates.bulk import cancel as cancel_bulk_send
from paraph.dashboard.request_templates.bulk import start as start_bulk_send
from paraph.dashboard.request_templates.templates import delete as delete_template
from paraph.dashboard.request_templates.templates import mail as template_mail
from paraph.dashboard.request_templates.templates import options as template_options
from paraph.dashboard.request_templates.templates import places as template_places
from paraph.dashboard.request_templates.templates import roles as template_roles
from paraph.dashboard.request_templates.templates import save_draft, save_request, template, templates
from paraph.dashboard.requests.actions import (
    duplicate_request,
    end_early,
    remind_signer,
    sign_now,
    signing_link,
)
from paraph.dashboard.requests.files import download, everything, page_of_request, signed_stamp, verify
from paraph.dashboard.requests.listing import export_requests, requests
from paraph.dashboard.requests.request_page import request

_OF_ORGANIZATION: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("environment", switch_environment, name="environment"),
    path("applications", applications, name="applications"),
    path("applications/new", new_application, name="new_application"),
    path("applications/which", which_key, name="which_key"),
    path("applications/<int:application_id>", application, name="application"),
    path("applications/<int:application_id>/first-call", first_call, name="first_call"),
    path("applications/<int:application_id>/used", key_used, name="key_used"),
    path("applications/<int:application_id>/settings", save_settings, name="save_application"),
    path("applications/<int:application_id>/revoke", revoke, name="revoke_application"),
    path("applications/<int:application_id>/keys", rotate, name="rotate_application"),
    path("applications/<int:application_id>/keys/<int:key_id>/end", end_key, name="end_key"),
    path("applications/<int:application_id>/deliveries", deliveries, name="deliveries"),
    path("applications/<int:application_id>/deliveries/test", test_webhook, name="test_webhook"),
    path("applications/<int:application_id>/deliveries/<int:delivery_id>", delivery, name="delivery"),
    path("applications/<int:application_id>/deliveries/<int:delivery_id>/body", signed_body, name="delivery_body"),
    path("applications/<int:application_id>/deliveries/<int:delivery_id>/again", resend_delivery, name="resend"),
    path("deliveries", all_deliveries, name="all_deliveries"),
    path("branding", branding, name="branding"),
    path("branding/new", profile, name="new_profile"),
    path("branding/<int:profile_id>", profile, name="profile"),
    path("branding/<int:profile_id>/logo", logo, name="profile_logo"),
    path("branding/<int:profile_id>/logo.png", logo_picture, name="logo_picture"),
    path("branding/<int:profile_id>/delete", delete_profile, name="delete_profile"),
    path("branding/preview", preview, name="branding_preview"),
    path("branding/preview.css", stylesheet, name="branding_stylesheet"),
    path("branding/preview/stamp.svg", sample_stamp),
    path("branding/preview/documents/1/pages/1.webp", sample_page),
    path("branding/preview/signature-only/stamp.svg", sample_stamp, {"signature_only": True}),
    path("branding/preview/signature-only/documents/1/pages/1.webp", sample_page),
    path("requests", requests, name="requests"),
    path("requests/export", export_requests, name="requests_export"),
    path("requests/<int:request_id>", request, name="request"),
    path("requests/<int:request_id>/sign", sign_now, name="sign_now"),
    path("requests/<int:request_id>/end", end_early, name="end_early"),
    path("requests/<int:request_id>/extend", extend_request, name="extend_request"),
    path("requests/<int:request_id>/duplicate", duplicate_request, name="duplicate_request"),
    path("requests/<int:request_id>/verify", verify, name="request_verify"),
    path("requests/<int:request_id>/everything.zip", everything, name="request_everything"),
    path("requests/<int:request_id>/proof", download, name="request_proof"),
    path("requests/<int:request_id>/documents/<int:document_id>", download, name="request_file"),
    path("requests/<int:request_id>/stamps/<int:placement_id>.svg", signed_stamp, name="signed_stamp"),
    path(
        "requests/<int:request_id>/documents/<int:document_id>/pages/<int:number>.webp",
        page_of_request,
        name="request_page",
    ),
    path("requests/<int:request_id>/signers/<int:signer_id>/remind", remind_signer, name="remind"),
    path("requests/<int:request_id>/signers/<int:signer_id>/correct", correct_signer, name="correct_signer"),
    path("requests/<int:request_id>/signers/<int:signer_id>/link", signing_link, name="signing_link"),
    path("requests/<int:request_id>/signers/<int:signer_id>/here", signing_link, {"here": True}, name="sign_here"),
    path("documents", documents, name="documents"),
    path("documents/<int:document_id>", document, name="document"),
    path("documents/<int:document_id>/delete", delete_document, name="delete_document"),
    path("documents/<int:document_id>/thumbnail.webp", small_picture, name="thumbnail"),
    path("documents/<int:document_id>/pages/<int:number>.webp", picture, name="document_page"),
    path("documents/<int:document_id>/pages/<int:number>-<int:zoom>.webp", picture, name="document_page_zoomed"),
    path("drafts", drafts, name="drafts"),
    path("drafts/new", begin_with_files, name="draft_with_files"),
    path("drafts/<int:draft_id>/delete", delete_draft, name="delete_draft"),
    path("drafts/<int:draft_id>/documents", documents_step, name="draft_documents"),
    path("drafts/<int:draft_id>/signers", signers_step, name="draft_signers"),
    path("drafts/<int:draft_id>/places", places_step, name="draft_places"),
    path(
        "drafts/<int:draft_id>/signers/<int:signer_id>/stamp-<int:width>x<int:height>.svg",
        stamp_picture,
        name="draft_stamp",
    ),
    path(
        "drafts/<int:draft_id>/signers/<int:signer_id>/documents/<int:document_id>/values-<int:number>.svg",
        values_picture,
        name="draft_values",
    ),
    path("drafts/<int:draft_id>/review", review_step, name="draft_review"),
    path("members", members, name="members"),
    path("members/leave", leave, name="leave"),
    path("members/<int:member_id>", person, name="member"),
    path("members/<int:member_id>/remove", remove, name="remove_member"),
    path("members/<int:member_id>/transfer", transfer, name="transfer_ownership"),
    path("members/invitations/<int:invitation_id>/resend", resend, name="resend_invitation"),
    path("members/invitations/<int:invitation_id>/withdraw", withdraw, name="withdraw_invitation"),
    path("settings", settings, name="settings"),
    path("settings/defaults", defaults, name="request_defaults"),
    path("settings/retention", retention, name="retention"),
    path("settings/delete", delete, name="delete_organization"),
    path("activity", activity, name="activity"),
    path("activity/export", export_activity, name="export_activity"),
    path("plan", plan, name="plan"),
    path("plan/billed.csv", billed, name="billed"),
    path("drafts/<int:draft_id>/template", save_draft, name="save_draft"),
    path("requests/<int:request_id>/template", save_request, name="save_request"),
    path("templates", templates, name="templates"),
    path("templates/<int:template_id>", template, name="template"),
    path("templates/<int:template_id>/roles", template_roles, name="template_roles"),
    path("templates/<int:template_id>/options", template_options, name="template_options"),
    path("templates/<int:template_id>/places", template_places, name="template_places"),
    path("templates/<int:template_id>/mail", template_mail, name="template_mail"),
    path("templates/<int:template_id>/delete", delete_template, name="delete_template"),
    path("templates/<int:template_id>/sample.csv", sample_csv, name="template_sample"),
    path("templates/<int:template_id>/bulk", bulk_upload, name="bulk_upload"),
    path("templates/bulk/<int:bulk_send_id>", bulk_send, name="bulk_send"),
    path("templates/bulk/<int:bulk_send_id>/start", start_bulk_send, name="start_bulk_send"),
    path("templates/bulk/<int:bulk_send_id>/cancel", cancel_bulk_send, name="cancel_bulk_send"),
    path("templates/bulk/<int:bulk_send_id>/errors.csv", errors_csv, name="bulk_send_errors"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", organizations, name="organizations"),
    path("new", new_organization, name="new_organization"),
    path("<int:organization_id>/", include(_OF_ORGANIZATION)),
]
