"""The header Idempotency-Key: a call that is sent again is answered with what it created, and creates nothing."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.endpoint import ApiRequest, Content, json_response
from paraph.database.rows import insert
from paraph.idempotency.held_key import Beside, HeldKey, hold, nothing_beside
from paraph.kernel.errors import DomainError

_KEY = re.compile(r"[!-~]{1,255}")


@contextmanager
def key_of(request: ApiRequest) -> Iterator[HeldKey | None]:
    """Give the key that the call names, None for none, which is held for the call's path while the block answers.

    Raises ``validation_error`` for a malformed key and ``idempotency_key_in_use`` for one that another call holds.
    """
    key = request.headers.get("Idempotency-Key")
    if key is None:
        yield None
        return
    if not _KEY.fullmatch(key):
        raise DomainError(
            "validation_error", _("The Idempotency-Key header must have 1 to 255 characters from ! to ~.")
        )
    with hold(request.scope, _path(request), key) as held:
        yield held


def _path(request: ApiRequest) -> str:
    """Return the path of the call after ``/api/v1/``, with ids as they are written in short."""
    found = request.resolver_match
    assert found
    return re.sub(r"<int:(\w+)>", lambda name: str(found.kwargs[name[1]]), found.route.removeprefix("api/v1/"))


def created_once(
    held: HeldKey | None,
    content: object,
    create: Callable[[Beside], Content],
    again: Callable[[int], Content | None],
) -> HttpResponse:
    """Return what ``create`` makes, or ``again`` reads, if it was made before; ``again`` returns ``None`` for what is
    there no more. ``content``: what is asked for, a JSON value. Raises ``idempotency_key_reused`` or ``gone``."""
    if held is None:
        return json_response(create(nothing_beside), 201)
    digest = _digest(content)
    resource_id = held.made_before(digest)
    if resource_id is None:
        return json_response(create(held.beside(digest)), 201)
    found = again(resource_id)
    if found is None:
        raise DomainError("gone", _("What was created with this Idempotency-Key has been deleted since."))
    response = json_response(found, 201)
    response.headers["Idempotent-Replayed"] = "true"
    return response


def done_once(
    held: HeldKey | None, content: object, resource_id: int, act: Callable[[], object], read: Callable[[], Content]
) -> HttpResponse:
    """Return what ``read`` says of the resource once ``act`` has changed it, which it does not do again under a key
    that named the same before. ``content`` as for :func:`created_once`. Raises ``idempotency_key_reused``."""
    digest = _digest(content)
    if held and held.made_before(digest):
        response = json_response(read())
        response.headers["Idempotent-Replayed"] = "true"
        return response
    with transaction.atomic():
        act()
        insert(held.beside(digest)(resource_id) if held else ())
    return json_response(read())


def _digest(value: object) -> bytes:
    """Return the SHA-256 of a JSON value, whatever the order of its keys and its white space."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).digest()
