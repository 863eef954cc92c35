"""Where a signer's request comes from, as the journal keeps it."""

from django.http import HttpRequest

from paraph.journal.append import Origin


def origin(request: HttpRequest) -> Origin:
    return Origin(request.META.get("REMOTE_ADDR", ""), request.headers.get("User-Agent", "").replace("\0", ""))
