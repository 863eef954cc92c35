"""A form with a small CSV file, held in memory and read only once the member may send it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from paraph.dashboard.decorators import show
from paraph.request_templates.bulk.csv_file import MOST_BYTES
from paraph.tenants.models import Member

FIELD = "file"
_BESIDE_THE_FILE = 64 * 1024  # bytes of other fields and of what stands between
View = Callable[..., HttpResponse]


def takes_csv(view: View) -> View:
    """Decorates a view of :func:`paraph.dashboard.decorators.member_page`, below it.

    Exempt from the middleware's CSRF check, which would read the body before the member is known; the same check is
    made here, once the body may be read. A body without a stated length has no file.
    """
    protected: View = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def taking(request: HttpRequest, member: Member, *rest: Any, **more: Any) -> HttpResponse:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES + _BESIDE_THE_FILE:
            content = {"sentence": _("The file is larger than 1 MiB.")}
            return show(request, "request_templates/too_large.html", content, member=member, status=422)
        request.upload_handlers = [MemoryFileUploadHandler(request)]
        return protected(request, member, *rest, **more)

    return taking
