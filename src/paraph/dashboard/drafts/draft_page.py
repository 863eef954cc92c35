"""What the four steps of a draft share."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404

from paraph.dashboard.decorators import View, member_page, scope, see_other, show, switch_to
from paraph.drafts import editing
from paraph.drafts.models import Draft, Step
from paraph.drafts.refusals import missing
from paraph.drafts.remarks import remarks, unwritten_names
from paraph.kernel.places import expensive_work
from paraph.tenants.members import Right
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import scoped

_STEPS = list(Step)
_LONG = 100_000  # bytes of a form


def draft_page(step: Step) -> Callable[[View], View]:
    """Return a view of a step: ``view(request, member, draft)``. Of a draft that was sent, its request is shown; of one
    that was discarded, that it was. A form holds the draft, but not while files are coming in. A large draft takes
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
            except Draft.DoesNotExist:  # somebody was faster, as a second press of the same button is slower
                return loaded(request, member.organization_id, draft_id=draft_id)

        return loaded

    return decorate


def _is_long(request: HttpRequest) -> bool:
    """Return whether a form says more than that of a draft which is not large; one that does not state its length
    may."""
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
    """Return the page of the step, with the others to go to; those that lack something are not ticked."""
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
