"""Who sees pages of operators."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed

from paraph.dashboard.decorators import View, reauthenticated, see_other, show
from paraph.server.client_address import client_address
from paraph.tenants.accounts import with_second_factor
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import ActorKind, Operator, User


def operator_page(*methods: str, fresh: bool = False) -> Callable[[View], View]:
    """Return a view of operators: ``view(request, actor, **rest of the address)``, for these methods.

    Where there is no operator, nobody finds it. Strangers are sent to log in, other accounts get 404. An operator
    without a second factor gets 403, and one who has not given it since they logged in gives it first. ``fresh``: as
    :func:`paraph.dashboard.decorators.reauthenticated`.
    """

    def decorate(view: View) -> View:
        answer = reauthenticated(view) if fresh else view

        @wraps(view)
        def guarded(request: HttpRequest, **rest: Any) -> HttpResponse:
            if not request.user.is_authenticated and Operator.objects.exists():
                return redirect_to_login(request.get_full_path())
            if not Operator.objects.filter(user__email=request.user.get_username()).exists():
                raise Http404
            user = cast(User, request.user)
            if user.pk not in with_second_factor([user.pk]):
                return show(request, "operators/no_second_factor.html", {}, status=403)
            if not any(record["method"] == "mfa" for record in get_authentication_records(request, user)):
                ways = get_adapter().get_reauthentication_methods(user)
                way = next(each["url"] for each in ways if each["id"].startswith("mfa_"))
                return see_other(f"{way}?{urlencode({'next': request.get_full_path()})}")
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return answer(request, Actor(ActorKind.OPERATOR, user.pk, user.email, client_address(request)), **rest)

        return guarded

    return decorate
