"""What all pages of an organization share: who may see them, and what a view answers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from functools import wraps
from typing import Any, TypeVar

from allauth.account.authentication import get_authentication_records
from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.forms import BaseForm, BaseFormSet
from django.forms.renderers import DjangoTemplates
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import MinuteRate
from paraph.server.client_address import client_address
from paraph.tenants.accounts import seen
from paraph.tenants.admin_log import Actor
from paraph.tenants.members import Right, may, roles_with
from paraph.tenants.models import ActorKind, Environment, Member, User
from paraph.tenants.scope import Row, TenantScope, answer_for, scoped

STAMPS_PER_MINUTE = 300  # of one member, in each web process; a review asks for one of each signer and size
_LONGEST_ID = 19  # digits
FIELD = "file"
_BESIDE_A_SMALL_FILE = 64 * 1024  # bytes of other fields and of the boundaries between them
View = Callable[..., HttpResponse]
_Response = TypeVar("_Response", bound=HttpResponseBase)
_stamp_rate = MinuteRate(STAMPS_PER_MINUTE)  # drawing one takes 20 ms of a processor


def member_page(
    right: Right,
    *,
    post: Right | None = None,
    post_only: bool = False,
    fresh: bool = False,
    **finders: Callable[[Member, int], Any],
) -> Callable[[View], View]:
    """Decorate a view of an organization's page: ``view(request, member, **rest of the address)``.

    Strangers are sent to log in. Whoever is no member gets 404, as if there were no such organization, and so does
    everybody once it is deleted. A member without the right gets 403 and reads which roles have it. ``post``: the right
    that a form needs, where that is another one. ``post_only``: anything but a form gets 405. ``fresh``: as
    :func:`reauthenticated`. ``finders``: by the name of an id in the address, what finds its row or raises ``Http404``,
    called after all other checks; ``view`` gets the row in place of the id.
    """

    def decorate(view: View) -> View:
        def found(request: HttpRequest, member: Member, **address: Any) -> HttpResponse:
            things = [find(member, address.pop(name)) for name, find in finders.items()]
            return view(request, member, *things, **address)

        answer = reauthenticated(found) if fresh else found

        @wraps(view)
        @login_required
        def guarded(request: HttpRequest, organization_id: int, **rest: Any) -> HttpResponse:
            memberships = Member.objects.select_related("organization", "user")
            member = memberships.filter(
                organization_id=organization_id, organization__deleted_at=None, user__email=request.user.get_username()
            ).first()
            if member is None:
                raise Http404
            seen(member)
            answer_for(shown_scope(request, member))
            needed = (post or right) if request.method == "POST" else right
            if not may(member.role, needed):
                return show(request, "forbidden.html", {"roles": roles_with(needed)}, member=member, status=403)
            if post_only and request.method != "POST":
                return HttpResponseNotAllowed(["POST"])
            return answer(request, member, **rest)

        return guarded

    return decorate


def reauthenticated(view: View) -> View:
    """Decorate a view inside of :func:`member_page`. Whoever has not logged in or confirmed who they are in the last
    five minutes does so first and comes back; a form that they had sent is then taken."""
    guarded: View = reauthentication_required(enabled=_is_long_ago)(view)
    return guarded


def see_other(to: Any, *address: Any) -> HttpResponse:
    """Return the answer to a form that was taken: 303 to a page, by the name of its address or by an address."""
    response = HttpResponseRedirect(resolve_url(to, *address))
    response.status_code = 303
    return response


def done(request: HttpRequest, sentence: str, to: Any, *address: Any) -> HttpResponse:
    """Return :func:`see_other`, to a page that says first what the form has done."""
    messages.success(request, sentence)
    return see_other(to, *address)


def show(
    request: HttpRequest,
    template: str,
    content: dict[str, Any],
    *,
    member: Member | None = None,
    status: int = 0,
    environment: str = "",
) -> HttpResponse:
    """Return the page of ``dashboard/{template}``, in which ``member`` and ``organization`` are known. ``environment``:
    that of what the page is about, to which the dashboard switches. ``status``: where it is 0, the page is a 422 if it
    shows a form that was sent with errors, or a ``problem``, and else a 200."""
    shared: dict[str, Any] = {"member": member, "organization": member.organization if member else None}
    if member:
        if environment and not request.headers.get("HX-Request"):  # an open page that asks again switches nothing
            switch_to(request, member, environment)
        memberships = Member.objects.filter(user_id=member.user_id, organization__deleted_at=None)
        shared["memberships"] = memberships.select_related("organization").order_by("organization__name")
        shared["may_build"] = may(member.role, Right.BUILD)
        shared["in_sandbox"] = (environment or shown_environment(request, member)) == Environment.SANDBOX
    sent = [each for each in content.values() if isinstance(each, BaseForm | BaseFormSet) and each.is_bound]
    refused = request.method == "POST" and (content.get("problem") or not all(form.is_valid() for form in sent))
    return render(request, f"dashboard/{template}", shared | content, status=status or (422 if refused else 200))


@contextmanager
def refusals_in(form: BaseForm, field: str | None = None) -> Iterator[None]:
    """Add to the form, at the field or above all of them, why what is done inside was refused."""
    try:
        yield
    except DomainError as refusal:
        form.add_error(field, refusal.message)


_SANDBOX = "sandbox"  # in the session: the id of the organization whose sandbox is shown


def environments(member: Member) -> list[Environment]:
    """Return the environments that the member may see: the sandbox is for those who integrate the API."""
    return [Environment.PRODUCTION, *([Environment.SANDBOX] if may(member.role, Right.BUILD) else [])]


def shown_environment(request: HttpRequest, member: Member) -> Environment:
    """Return the environment that is switched on: production, until somebody who may see the sandbox switches to it."""
    in_sandbox = request.session.get(_SANDBOX) == member.organization_id and may(member.role, Right.BUILD)
    return Environment.SANDBOX if in_sandbox else Environment.PRODUCTION


def switch_to(request: HttpRequest, member: Member, environment: str) -> None:
    if environment == shown_environment(request, member):
        return
    if environment == Environment.SANDBOX:
        request.session[_SANDBOX] = member.organization_id
    else:
        del request.session[_SANDBOX]


def shown_scope(request: HttpRequest, member: Member) -> TenantScope:
    """Return the member's organization in the environment that is switched on."""
    return scope(member, shown_environment(request, member))


def own(model: type[Row], member: Member, pk: int, *related: str) -> Row:
    """Return the row of either environment that the member may see. Raise ``Http404`` where there is none."""
    for environment in environments(member):
        if found := scoped(model, scope(member, environment)).select_related(*related).filter(pk=pk).first():
            return found
    raise Http404


def number_in(text: str) -> int | None:
    """Return the id that stands in a form or an address, None where the text cannot be an id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_ID else None


def numbers_in(texts: Iterable[str]) -> list[int]:
    return [int(text) for text in texts if number_in(text) is not None]


def start_of_day(day: date) -> datetime:
    """Return the first moment of the day, which is a day of UTC, as in all filters."""
    return datetime.combine(day, time.min, UTC)


def end_of_day(day: date) -> datetime:
    """Return the last moment of the day, which even 9999-12-31 has: no date comes after it."""
    return datetime.combine(day, time.max, UTC)


def csv_file(lines: Iterable[str], name: str) -> StreamingHttpResponse:
    return attached(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), name)


def csv_answer(content: str | bytes, name: str) -> HttpResponse:
    return attached(HttpResponse(content, content_type="text/csv; charset=utf-8"), name)


def attached(response: _Response, name: str) -> _Response:
    """Return the response as a file that browsers save under this name and never take for another type."""
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def scope(member: Member, environment: str = Environment.PRODUCTION) -> TenantScope:
    """Return the member's organization in an environment, for the scoped reads and the verbs that the API has, too."""
    organization = member.organization
    suspended = organization.suspended_at is not None
    return TenantScope(organization.pk, environment, organization.plan, application_id=None, suspended=suspended)


def actor(request: HttpRequest, member: Member) -> Actor:
    return actor_of(member.user, request)


def actor_of(user: User, request: HttpRequest) -> Actor:
    """Return the owner of the account, as the activity log names them."""
    return Actor(ActorKind.MEMBER, user.pk, user.email, client_address(request))


def _is_long_ago(request: HttpRequest) -> bool:
    latest = max((float(record["at"]) for record in get_authentication_records(request, request.user)), default=0.0)
    return clock.now().timestamp() - latest >= settings.ACCOUNT_REAUTHENTICATION_TIMEOUT


def limits_stamps(view: View) -> View:
    """Decorate a view inside of :func:`member_page` that draws stamps: too many in a minute are answered with 429."""

    @wraps(view)
    def limited(request: HttpRequest, member: Member, **rest: Any) -> HttpResponse:
        if retry_after := _stamp_rate.count(member.pk):
            return HttpResponse(status=429, headers={"Retry-After": str(retry_after)})
        return view(request, member, **rest)

    return limited


def file_field(label: Any, accepted: str, lacking: Any) -> forms.FileField:
    errors: dict[str, Any] = {"required": lacking, "empty": gettext_lazy("The file is empty.")}
    return forms.FileField(label=label, widget=forms.FileInput(attrs={"accept": accepted}), error_messages=errors)


def takes_small_file(most_bytes: int, template: str, sentence: Callable[[], str]) -> Callable[[View], View]:
    """Decorate a view inside of :func:`member_page`. The page of the ``template`` says the ``sentence`` where a file is
    clearly larger than ``most_bytes``; the view itself refuses one that is only just larger.

    The view is exempt from the middleware's CSRF check, which would read the body before the member is known; the same
    check is made here, once the body may be read. A body without a stated length has no file.
    """

    def decorate(view: View) -> View:
        protected: View = csrf_protect(view)

        @csrf_exempt
        @wraps(view)
        def taking(request: HttpRequest, member: Member, *rest: Any, **more: Any) -> HttpResponse:
            if int(request.META.get("CONTENT_LENGTH") or 0) > most_bytes + _BESIDE_A_SMALL_FILE:
                return show(request, template, {"sentence": sentence()}, member=member, status=422)
            request.upload_handlers = [MemoryFileUploadHandler(request)]
            return protected(request, member, *rest, **more)

        return taking

    return decorate


class FormRenderer(DjangoTemplates):
    """How forms look: label, control, help and errors, and a summary of the errors above them."""

    form_template_name = "dashboard/form.html"
    field_template_name = "dashboard/field.html"
