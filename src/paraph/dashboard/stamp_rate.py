"""How many pictures of stamps a member may have drawn: setting one takes 20 ms of a processor."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from paraph.kernel.rates import MinuteRate
from paraph.tenants.models import Member

PER_MINUTE = 300  # of one member, in each web process; a review asks for one of each signer and size

_rate = MinuteRate(PER_MINUTE)


def counted(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view inside of ``member_page`` that draws a stamp; it answers 429 beyond :data:`PER_MINUTE`."""

    @wraps(view)
    def limited(request: HttpRequest, member: Member, **rest: Any) -> HttpResponse:
        if retry_after := _rate.count(member.pk):
            return HttpResponse(status=429, headers={"Retry-After": str(retry_after)})
        return view(request, member, **rest)

    return limited
