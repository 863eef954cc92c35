"""``/app/{o}/drafts``: requests begun and not sent yet; ``POST`` begins a new one, and ``…/new`` begins one with files;
``…/{id}/documents``: which documents are to be signed, in which order; and what the four steps of a draft share."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import (
    FIELD,
    View,
    member_page,
    numbers_in,
    scope,
    see_other,
    show,
    shown_scope,
    switch_to,
)
from paraph.dashboard.documents import limit_mb, save_pdfs, takes_pdfs
from paraph.documents.models import Document, DocumentStatus
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftDocument, Step
from paraph.drafts.review import missing, remarks, unwritten_names
from paraph.kernel.places import expensive_work
from paraph.request_templates.models import Template
from paraph.tenants.limits import allowance
from paraph.tenants.members import Right
from paraph.tenants.models import Environment, Member
from paraph.tenants.organizations import request_defaults
from paraph.tenants.scope import scoped

_STEPS = list(Step)
_AT_ONCE = 100
_MOST_EARLIER = 20
_LONG = 100_000  # bytes of a form


def draft_page(step: Step) -> Callable[[View], View]:
    """Decorate the view of a step: ``view(request, member, draft)``. A draft that was sent leads to its request; of one
    that was discarded, the page says so. A form holds the draft, but not while files are coming in. A large draft takes
    a place for expensive work (:mod:`paraph.kernel.places`)."""

    def decorate(view: View) -> View:
        @member_page(Right.SEND)
        @wraps(view)
        def loaded(request: HttpRequest, member: Member, draft_id: int) -> HttpResponse:
            draft = get_object_or_404(scoped(Draft, scope(member)).select_related("application"), pk=draft_id)
            if draft.request_id:
                return see_other("request", member.organization_id, draft.request_id)
            if draft.discarded_at:
                return show(request, "drafts/discarded.html", {"draft": draft}, member=member, status=410)
            if draft.of_template and step != Step.PLACEMENTS:
                return see_other("draft_places", member.organization_id, draft.pk)
            editing.touch(draft, step)
            holds = request.method == "POST" and step != Step.DOCUMENTS
            works = (holds and _is_long(request)) or editing.is_large(draft)
            try:
                with expensive_work() if works else nullcontext(), editing.held(draft) if holds else nullcontext():
                    return view(request, member, draft)
            except Draft.DoesNotExist:  # it was sent or discarded meanwhile, as by an earlier press of the button
                return loaded(request, member.organization_id, draft_id=draft_id)

        return loaded

    return decorate


def _is_long(request: HttpRequest) -> bool:
    """Return whether a form is longer than that of a draft that is not large, or does not state its length."""
    length = request.headers.get("Content-Length", "")
    return not length.isdecimal() or int(length) > _LONG


def with_removed(entered: QueryDict, **rows: str) -> QueryDict:
    """Return what was entered, with the row removed whose button was pressed. ``rows``: the prefix of a button's rows,
    by the name of the button."""
    content = entered.copy()
    for button, prefix in rows.items():
        if (row := content.get(button, "")).isdecimal():
            content[f"{prefix}-{int(row)}-DELETE"] = "on"
    return content


def show_step(
    request: HttpRequest, member: Member, draft: Draft, step: Step, content: dict[str, Any], *, status: int = 0
) -> HttpResponse:
    """Return the page of the step, with links to the other steps; those that lack something are not ticked."""
    reached = _STEPS.index(Step(draft.step))
    lacking = missing(draft)
    steps = [
        {
            "name": each,
            "label": each.label,
            "done": each != step and index < reached and not lacking.of(each),
            "here": each == step,
        }
        for index, each in enumerate(_STEPS)
    ]
    shared = {"draft": draft, "steps": steps, "step": step, "missing": lacking}
    if step in {Step.PLACEMENTS, Step.REVIEW}:
        content |= {"remarks": remarks(draft), "unwritten": unwritten_names(draft)}
    switch_to(request, member, Environment.PRODUCTION)  # the only one that has drafts
    return show(request, f"drafts/{step}.html", shared | content, member=member, status=status)


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
        if chosen and not request.FILES:
            problems = []
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
