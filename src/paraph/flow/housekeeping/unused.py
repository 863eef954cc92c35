"""Which uploads nobody uses."""

from django.db.models import Exists, OuterRef, QuerySet

from paraph.documents.models import Document
from paraph.drafts.models import DraftDocument
from paraph.request_templates.models import TemplateDocument
from paraph.signature_requests.models import RequestDocument

_USES = (RequestDocument, DraftDocument, TemplateDocument)


def unused(rows: QuerySet[Document]) -> QuerySet[Document]:
    """Return those that stand in no request, draft or template."""
    used = [Exists(table.objects.filter(document_id=OuterRef("pk"))) for table in _USES]
    return rows.filter(*(~each for each in used))
