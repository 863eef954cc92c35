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
from paraph.dashboard.drafts.stamp_picture import stamp_picture
from paraph.dashboard.home import home, organizations
from paraph.dashboard.new_organization import new_organization

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
    path(
        "<int:organization_id>/drafts/<int:draft_id>/signers/<int:signer_id>/stamp-<int:width>x<int:height>.svg",
        stamp_picture,
        name="draft_stamp",
    ),
    path("<int:organization_id>/drafts/<int:draft_id>/review", review_step, name="draft_review"),
]
