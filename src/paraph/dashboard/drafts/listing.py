"""``/app/{o}/drafts``: what was begun and not sent yet. ``POST`` begins a new request, there or with files."""

from collections.abc import Iterable

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import member_page, numbers_in, scope, see_other, show, shown_scope
from paraph.dashboard.uploads import FIELD, save_pdfs, takes_pdfs
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftDocument
from paraph.request_templates.models import Template
from paraph.tenants.members import Right
from paraph.tenants.models import Member
from paraph.tenants.organizations import request_defaults
from paraph.tenants.scope import scoped

_AT_ONCE = 100


@member_page(Right.SEND)
def drafts(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method == "POST":
        draft = _begin(member, numbers_in(request.POST.getlist("document")))
        return see_other("draft_documents", member.organization_id, draft.pk)
    mine = editing.open_drafts(shown_scope(request, member)).select_related("author", "application").defer("content")
    rows_of_documents = DraftDocument.objects.select_related("document").defer("document__preflight", "document__pages")
    mine = mine.prefetch_related(Prefetch("documents", rows_of_documents))
    rows = mine.order_by("-updated_at", "-pk")[:_AT_ONCE]
    return show(request, "drafts/listing.html", {"rows": rows}, member=member)


@member_page(Right.SEND)
@takes_pdfs
def begin_with_files(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/drafts/new``: begin a request with the files of the form and go on to its signers; to its documents
    where a file was refused or none was chosen. Where all were refused, nothing is begun."""
    if request.method != "POST":
        return see_other("home", member.organization_id)
    made, problems = save_pdfs(request, member) if FIELD in request.FILES else ([], [])
    for problem in problems:
        messages.error(request, problem)
    if problems and not made:
        return see_other("home", member.organization_id)
    draft = _begin(member, [document.pk for document in made])
    is_whole = made and not problems
    return see_other("draft_signers" if is_whole else "draft_documents", member.organization_id, draft.pk)


def _begin(member: Member, document_ids: Iterable[int]) -> Draft:
    locale, defaults = (get_language() or "en")[:2], request_defaults(member.organization)
    return editing.begin(scope(member), member.user, document_ids, locale, defaults)


@member_page(Right.SEND)
def delete(request: HttpRequest, member: Member, draft_id: int) -> HttpResponse:
    """``POST …/drafts/{id}/delete``. The documents stay. One that an application prepared is discarded; one that was
    sent leads to its request."""
    mine = scoped(Draft, scope(member)).filter(pk=draft_id)
    changed = Template.objects.filter(places__in=mine).values_list("pk", flat=True).first()
    discarded = request.method == "POST" and editing.discard(mine)
    kept = mine.first()
    if changed:
        return see_other("template", member.organization_id, changed)
    if kept and kept.request_id:
        return see_other("request", member.organization_id, kept.request_id)
    if kept and discarded:
        messages.success(request, _("The draft was discarded."))
    return see_other("drafts", member.organization_id)
