"""Forms with a small file, held in memory and read only once the member may send it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from paraph.tenants.models import Member

FIELD = "file"
_BESIDE_THE_FILE = 64 * 1024  # bytes of other fields and of what stands between
View = Callable[..., HttpResponse]
TooLarge = Callable[[HttpRequest, Member], HttpResponse]


def takes_small_file(most_bytes: int, too_large: TooLarge) -> Callable[[View], View]:
    """Decorate a view of :func:`paraph.dashboard.decorators.member_page`, below it. ``too_large`` answers where the
    file is plainly larger than ``most_bytes``; the view refuses one that is only just larger.

    Exempt from the middleware's CSRF check, which would read the body before the member is known; the same check is
    made here, once the body may be read. A body without a stated length has no file.
    """

    def decorate(view: View) -> View:
        protected: View = csrf_protect(view)

        @csrf_exempt
        @wraps(view)
        def taking(request: HttpRequest, member: Member, *rest: Any, **more: Any) -> HttpResponse:
            if int(request.META.get("CONTENT_LENGTH") or 0) > most_bytes + _BESIDE_THE_FILE:
                return too_large(request, member)
            request.upload_handlers = [MemoryFileUploadHandler(request)]
            return protected(request, member, *rest, **more)

        return taking

    return decorate
