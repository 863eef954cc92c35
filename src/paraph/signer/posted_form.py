"""A form that a browser sends to a page of the signer, without scripts."""

from django.http import HttpRequest, QueryDict
from django.http.request import RawPostDataException, UnreadablePostError

from paraph.kernel.errors import DomainError
from paraph.signer.authentication import LARGEST


def posted_form(request: HttpRequest) -> QueryDict:
    """Raise ``DomainError``: ``validation_error`` for a form of another site and an unreadable one,
    ``payload_too_large``.

    A form of another site is refused by what every browser says of where a request comes from: no other site could
    know the address, but one that was told it must not do anything in the signer's name.
    """
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        raise DomainError("validation_error", "The form was sent from another site.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST:
        raise DomainError("payload_too_large", f"The form is larger than the limit of {LARGEST // 1024} KiB.")
    try:
        return request.POST
    except (UnreadablePostError, RawPostDataException) as error:
        raise DomainError("validation_error", "The form is not readable.") from error
