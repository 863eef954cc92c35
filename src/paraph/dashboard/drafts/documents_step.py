"""``/app/{o}/drafts/{id}/documents``: which documents are to be signed, in which order."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import numbers_in, scope, see_other
from paraph.dashboard.drafts.draft_page import draft_page, show_step
from paraph.dashboard.uploads import FIELD, limit_mb, save_pdfs, takes_pdfs
from paraph.documents.models import Document, DocumentStatus
from paraph.drafts import editing
from paraph.drafts.models import Draft, Step
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member
from paraph.tenants.scope import scoped

_MOST_EARLIER = 20


@draft_page(Step.DOCUMENTS)
@takes_pdfs
def documents_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Upload"; "Move up" and "Remove" at each document; "Continue". Files are uploaded whichever is
    pressed, and documents that were uploaded earlier are added if they are ticked."""
    if request.method != "POST":
        return _page(request, member, draft, [])
    problems: list[str] = []
    chosen = numbers_in(request.POST.getlist("earlier"))
    pressed = request.POST.get("action", "")
    if FIELD in request.FILES or pressed == "upload":
        made, problems = save_pdfs(request, member)
        chosen += [document.pk for document in made]
        if chosen:
            problems = [] if not request.FILES else problems
    with editing.held(draft):
        editing.attach(scope(member), draft, chosen)
        _rearrange(draft, request.POST.get("remove"), request.POST.get("up"))
    if problems:
        return _page(request, member, draft, problems)
    if pressed == "next" and not draft.documents.exists() and not {"remove", "up"} & set(request.POST):
        return _page(request, member, draft, [], _("Add a document first."))
    return see_other("draft_signers" if pressed == "next" else "draft_documents", member.organization_id, draft.pk)


def _rearrange(draft: Draft, remove: str | None, up: str | None) -> None:
    order = [each["id"] for each in draft.content["documents"]]
    if remove and remove.isdecimal() and int(remove) in order:
        order.remove(int(remove))
    elif up and up.isdecimal() and int(up) in order[1:]:
        index = order.index(int(up))
        order[index - 1 : index + 1] = order[index], order[index - 1]
    else:
        return
    editing.keep_documents(draft, order)


def _page(
    request: HttpRequest, member: Member, draft: Draft, problems: Sequence[str], lacking: str = ""
) -> HttpResponse:
    files = draft.files()
    ready = scoped(Document, scope(member)).filter(status=DocumentStatus.READY, file_deleted_at=None)
    earlier = ready.exclude(pk__in=[document.pk for document in files]).defer("preflight")
    content = {
        "files": files,
        "earlier": earlier.order_by("-created_at", "-pk")[:_MOST_EARLIER],
        "problems": problems,
        "lacking": lacking,
        "most": allowance(member.organization.plan).documents,
        "limit": limit_mb(),
    }
    return show_step(request, member, draft, Step.DOCUMENTS, content, status=422 if problems or lacking else 200)
