"""The addresses of the dashboard, below ``/app/``."""

from django.urls import URLPattern, URLResolver, path

from paraph.dashboard.documents.document import document, picture
from paraph.dashboard.documents.listing import documents
from paraph.dashboard.drafts.documents_step import documents_step
from paraph.dashboard.drafts.listing import delete as delete_draft
from paraph.dashboard.drafts.listing import drafts
from paraph.dashboard.drafts.places_step import places_step
from paraph.dashboard.drafts.review_step import review_step
from paraph.dashboard.drafts.signers_step import signers_step
from paraph.dashboard.home import home, organizations
from paraph.dashboard.new_organization import new_organization
from paraph.dashboard.request_templates.bulk_send import bulk_send, errors_csv
from paraph.dashboard.request_templates.bulk_send import cancel as cancel_bulk_send
from paraph.dashboard.request_templates.bulk_send import start as start_bulk_send
from paraph.dashboard.request_templates.bulk_upload import bulk_upload, sample_csv
from paraph.dashboard.request_templates.listing import templates
from paraph.dashboard.request_templates.saving import save_draft, save_request
from paraph.dashboard.request_templates.template import delete as delete_template
from paraph.dashboard.request_templates.template import names as template_names
from paraph.dashboard.request_templates.template import template

urlpatterns: list[URLPattern | URLResolver] = [
    path("", organizations, name="organizations"),
    path("new", new_organization, name="new_organization"),
    path("<int:organization_id>/", home, name="home"),
    path("<int:organization_id>/documents", documents, name="documents"),
    path("<int:organization_id>/documents/<int:document_id>", document, name="document"),
    path("<int:organization_id>/documents/<int:document_id>/pages/<int:number>.webp", picture, name="document_page"),
    path("<int:organization_id>/documents/<int:document_id>/pages/<int:number>-<int:zoom>.webp", picture),
    path("<int:organization_id>/drafts", drafts, name="drafts"),
    path("<int:organization_id>/drafts/<int:draft_id>/delete", delete_draft, name="delete_draft"),
    path("<int:organization_id>/drafts/<int:draft_id>/documents", documents_step, name="draft_documents"),
    path("<int:organization_id>/drafts/<int:draft_id>/signers", signers_step, name="draft_signers"),
    path("<int:organization_id>/drafts/<int:draft_id>/places", places_step, name="draft_places"),
    path("<int:organization_id>/drafts/<int:draft_id>/review", review_step, name="draft_review"),
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
