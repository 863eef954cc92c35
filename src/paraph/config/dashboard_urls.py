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
    resend_delivery,
    signed_body,
    test_webhook,
)
from paraph.dashboard.applications.first_call import first_call, key_used
from paraph.dashboard.branding import branding, logo, new_profile, profile
from paraph.dashboard.branding import delete as delete_profile
from paraph.dashboard.branding import profile_logo as logo_picture
from paraph.dashboard.branding_preview import preview, sample_page, sample_stamp, stylesheet
from paraph.dashboard.documents import delete as delete_document
from paraph.dashboard.documents import document, documents, picture, small_picture
from paraph.dashboard.drafts.documents_step import documents_step
from paraph.dashboard.drafts.listing import begin_with_files, drafts
from paraph.dashboard.drafts.listing import delete as delete_draft
from paraph.dashboard.drafts.pictures import stamp_picture, values_picture
from paraph.dashboard.drafts.places_step import places_step
from paraph.dashboard.drafts.review_step import review_step
from paraph.dashboard.drafts.signers_step import signers_step
from paraph.dashboard.home import home, new_organization, organizations
from paraph.dashboard.members import leave, members, person, remove, resend, transfer, withdraw
from paraph.dashboard.organization_settings import delete, retention, settings
from paraph.dashboard.plan import billed, plan
from paraph.dashboard.request_templates.bulk import bulk_send, bulk_upload, errors_csv, sample_csv
from paraph.dashboard.request_templates.bulk import cancel as cancel_bulk_send
from paraph.dashboard.request_templates.bulk import start as start_bulk_send
from paraph.dashboard.request_templates.templates import delete as delete_template
from paraph.dashboard.request_templates.templates import names as template_names
from paraph.dashboard.request_templates.templates import save_draft, save_request, template, templates
from paraph.dashboard.requests.actions import end_early, remind_signer, sign_here, sign_now, signing_link
from paraph.dashboard.requests.files import download, everything, verify
from paraph.dashboard.requests.listing import export_requests, requests
from paraph.dashboard.requests.request_page import request

urlpatterns: list[URLPattern | URLResolver] = [
    path("", organizations, name="organizations"),
    path("new", new_organization, name="new_organization"),
    path("<int:organization_id>/", home, name="home"),
    path("<int:organization_id>/applications", applications, name="applications"),
    path("<int:organization_id>/applications/new", new_application, name="new_application"),
    path("<int:organization_id>/applications/which", which_key, name="which_key"),
    path("<int:organization_id>/applications/<int:application_id>", application, name="application"),
    path("<int:organization_id>/applications/<int:application_id>/first-call", first_call, name="first_call"),
    path("<int:organization_id>/applications/<int:application_id>/used", key_used, name="key_used"),
    path("<int:organization_id>/applications/<int:application_id>/settings", save_settings, name="save_application"),
    path("<int:organization_id>/applications/<int:application_id>/revoke", revoke, name="revoke_application"),
    path("<int:organization_id>/applications/<int:application_id>/keys", rotate, name="rotate_application"),
    path("<int:organization_id>/applications/<int:application_id>/keys/<int:key_id>/end", end_key, name="end_key"),
    path("<int:organization_id>/applications/<int:application_id>/deliveries", deliveries, name="deliveries"),
    path("<int:organization_id>/applications/<int:application_id>/deliveries/test", test_webhook, name="test_webhook"),
    path(
        "<int:organization_id>/applications/<int:application_id>/deliveries/<int:delivery_id>",
        include(
            [
                path("", delivery, name="delivery"),
                path("/body", signed_body, name="delivery_body"),
                path("/again", resend_delivery, name="resend"),
            ]
        ),
    ),
    path("<int:organization_id>/deliveries", all_deliveries, name="all_deliveries"),
    path("<int:organization_id>/branding", branding, name="branding"),
    path("<int:organization_id>/branding/new", new_profile, name="new_profile"),
    path("<int:organization_id>/branding/<int:profile_id>", profile, name="profile"),
    path("<int:organization_id>/branding/<int:profile_id>/logo", logo, name="profile_logo"),
    path("<int:organization_id>/branding/<int:profile_id>/logo.png", logo_picture, name="logo_picture"),
    path("<int:organization_id>/branding/<int:profile_id>/delete", delete_profile, name="delete_profile"),
    path("<int:organization_id>/branding/preview", preview, name="branding_preview"),
    path("<int:organization_id>/branding/preview.css", stylesheet, name="branding_stylesheet"),
    path("<int:organization_id>/branding/preview/stamp.svg", sample_stamp),
    path("<int:organization_id>/branding/preview/documents/1/pages/1.webp", sample_page),
    path("<int:organization_id>/branding/preview/signature-only/stamp.svg", sample_stamp, {"signature_only": True}),
    path("<int:organization_id>/branding/preview/signature-only/documents/1/pages/1.webp", sample_page),
    path("<int:organization_id>/requests", requests, name="requests"),
    path("<int:organization_id>/requests/export", export_requests, name="requests_export"),
    path("<int:organization_id>/requests/<int:request_id>", request, name="request"),
    path("<int:organization_id>/requests/<int:request_id>/sign", sign_now, name="sign_now"),
    path("<int:organization_id>/requests/<int:request_id>/end", end_early, name="end_early"),
    path("<int:organization_id>/requests/<int:request_id>/verify", verify, name="request_verify"),
    path("<int:organization_id>/requests/<int:request_id>/everything.zip", everything, name="request_everything"),
    path("<int:organization_id>/requests/<int:request_id>/proof", download, name="request_proof"),
    path("<int:organization_id>/requests/<int:request_id>/documents/<int:document_id>", download, name="request_file"),
    path(
        "<int:organization_id>/requests/<int:request_id>/signers/<int:signer_id>/remind", remind_signer, name="remind"
    ),
    path(
        "<int:organization_id>/requests/<int:request_id>/signers/<int:signer_id>/link",
        signing_link,
        name="signing_link",
    ),
    path("<int:organization_id>/requests/<int:request_id>/signers/<int:signer_id>/here", sign_here, name="sign_here"),
    path("<int:organization_id>/documents", documents, name="documents"),
    path("<int:organization_id>/documents/<int:document_id>", document, name="document"),
    path("<int:organization_id>/documents/<int:document_id>/delete", delete_document, name="delete_document"),
    path("<int:organization_id>/documents/<int:document_id>/thumbnail.webp", small_picture, name="thumbnail"),
    path("<int:organization_id>/documents/<int:document_id>/pages/<int:number>.webp", picture, name="document_page"),
    path("<int:organization_id>/documents/<int:document_id>/pages/<int:number>-<int:zoom>.webp", picture),
    path("<int:organization_id>/drafts", drafts, name="drafts"),
    path("<int:organization_id>/drafts/new", begin_with_files, name="draft_with_files"),
    path("<int:organization_id>/drafts/<int:draft_id>/delete", delete_draft, name="delete_draft"),
    path("<int:organization_id>/drafts/<int:draft_id>/documents", documents_step, name="draft_documents"),
    path("<int:organization_id>/drafts/<int:draft_id>/signers", signers_step, name="draft_signers"),
    path("<int:organization_id>/drafts/<int:draft_id>/places", places_step, name="draft_places"),
    path(
        "<int:organization_id>/drafts/<int:draft_id>/signers/<int:signer_id>/stamp-<int:width>x<int:height>.svg",
        stamp_picture,
        name="draft_stamp",
    ),
    path(
        "<int:organization_id>/drafts/<int:draft_id>/signers/<int:signer_id>/documents/<int:document_id>/"
        "values-<int:number>.svg",
        values_picture,
        name="draft_values",
    ),
    path("<int:organization_id>/drafts/<int:draft_id>/review", review_step, name="draft_review"),
    path("<int:organization_id>/members", members, name="members"),
    path("<int:organization_id>/members/leave", leave, name="leave"),
    path("<int:organization_id>/members/<int:member_id>", person, name="member"),
    path("<int:organization_id>/members/<int:member_id>/remove", remove, name="remove_member"),
    path("<int:organization_id>/members/<int:member_id>/transfer", transfer, name="transfer_ownership"),
    path("<int:organization_id>/members/invitations/<int:invitation_id>/resend", resend, name="resend_invitation"),
    path(
        "<int:organization_id>/members/invitations/<int:invitation_id>/withdraw", withdraw, name="withdraw_invitation"
    ),
    path("<int:organization_id>/settings", settings, name="settings"),
    path("<int:organization_id>/settings/retention", retention, name="retention"),
    path("<int:organization_id>/settings/delete", delete, name="delete_organization"),
    path("<int:organization_id>/activity", activity, name="activity"),
    path("<int:organization_id>/activity/export", export_activity, name="export_activity"),
    path("<int:organization_id>/plan", plan, name="plan"),
    path("<int:organization_id>/plan/billed.csv", billed, name="billed"),
    path("<int:organization_id>/drafts/<int:draft_id>/template", save_draft, name="save_draft"),
    path("<int:organization_id>/requests/<int:request_id>/template", save_request, name="save_request"),
    path("<int:organization_id>/templates", templates, name="templates"),
    path("<int:organization_id>/templates/<int:template_id>", template, name="template"),
    path("<int:organization_id>/templates/<int:template_id>/names", template_names, name="template_names"),
    path("<int:organization_id>/templates/<int:template_id>/delete", delete_template, name="delete_template"),
    path("<int:organization_id>/templates/<int:template_id>/sample.csv", sample_csv, name="template_sample"),
    path("<int:organization_id>/templates/<int:template_id>/bulk", bulk_upload, name="bulk_upload"),
    path("<int:organization_id>/templates/bulk/<int:bulk_send_id>", bulk_send, name="bulk_send"),
    path("<int:organization_id>/templates/bulk/<int:bulk_send_id>/start", start_bulk_send, name="start_bulk_send"),
    path("<int:organization_id>/templates/bulk/<int:bulk_send_id>/cancel", cancel_bulk_send, name="cancel_bulk_send"),
    path("<int:organization_id>/templates/bulk/<int:bulk_send_id>/errors.csv", errors_csv, name="bulk_send_errors"),
]
