"""Show a request before it is created, as one PDF."""

from django.utils.translation import gettext as _

from paraph.documents.refusals import sentence_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.typesetting.appearances import PreviewBox, PreviewPage, preview_overlays
from paraph.pdf.untrusted.page_reading import preview
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.placing import PlannedDocument
from paraph.signature_requests.plan import PREVIEWED, RequestPlan, make_plan
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.scope import TenantScope, tenant_key

MOST_PAGES = 1000
MOST_MIB = 100


def preview_pdf(scope: TenantScope, payload: object, locale: str) -> bytes:
    """Return the documents, one after the other, with a box where each stamp and field would stand, and the name or
    label in it. ``locale``: the one that the request would have.

    Raises ``DomainError`` as a creation does, but for values that a preview does not measure, and ``validation_error``
    for documents that are too large together.
    """
    plan, problems = make_plan(scope, payload, locale=locale, measured=PREVIEWED), Problems()
    _bound(plan, problems)
    problems.refuse()
    overlays: dict[PreviewPage, int] = {}
    places = [
        [overlays.setdefault(page, len(overlays)) for page in _pages(planned, _names(plan, locale))]
        for planned in plan.documents
    ]
    files = [store.get(planned.document.shown_key) for planned in plan.documents]
    try:
        return preview(
            files, preview_overlays(list(overlays)), places, tenant_key=tenant_key(plan.documents[0].document)
        )
    except PdfRefused as refused:
        problems.add("documents", sentence_of(refused))
        problems.refuse()
        raise


def _bound(plan: RequestPlan, problems: Problems) -> None:
    documents = [planned.document for planned in plan.documents]
    pages, size = sum(len(each.pages) for each in documents), sum(each.file_size for each in documents)
    if pages > MOST_PAGES or size > MOST_MIB * 1024 * 1024:
        sentence = _("a preview as PDF takes at most %(pages)d pages and %(size)d MiB together, not %(count)d pages.")
        problems.add("documents", sentence % {"pages": MOST_PAGES, "size": MOST_MIB, "count": pages})


def _names(plan: RequestPlan, locale: str) -> dict[str, str]:
    people = plan.draft.signers
    return {each.ref: full_name(each.first_name, each.last_name, each.language or locale) for each in people}


def _pages(planned: PlannedDocument, names: dict[str, str]) -> list[PreviewPage]:
    boxes: dict[int, list[PreviewBox]] = {}
    named = [(stamp.page_number, stamp.rect, names[stamp.signer_ref]) for stamp in planned.placements]
    fields = [(field.page_number, field.rect, field.given.label or field.given.name) for field in planned.fields]
    for page_number, at, name in [*named, *fields]:
        boxes.setdefault(page_number, []).append(PreviewBox(at.x, at.y, at.width, at.height, name))
    return [
        PreviewPage(width, height, tuple(boxes.get(number, ())))
        for number, (width, height) in enumerate(planned.document.pages, 1)
    ]
