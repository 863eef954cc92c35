"""The JSON body of a call, and its header Idempotency-Key: a call that is sent again under the same key creates nothing
and is answered with what the first one created."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1.endpoint import ApiRequest, Content, json_response
from paraph.database.rows import insert
from paraph.idempotency.held_key import ExtraRows, HeldKey, hold
from paraph.kernel import bounded_json
from paraph.kernel.errors import DomainError
from paraph.server.bodies import read_body
from paraph.signature_requests.payload import look_beside
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import Input

LARGEST = 4 * 1024 * 1024  # bytes: a hundred signers on fifty documents fit
MOST_PARTS = 120_000  # arrays and objects: 110,000 where each signer has ten stamps on each document
_KEY = re.compile(r"[!-~]{1,255}")

Made = TypeVar("Made")


class Body(NamedTuple):
    """The ``value`` under the root key, and of the keys beside it their ``problems`` and those ``passed_over``."""

    value: object
    problems: Problems
    passed_over: list[str]


def read(request: HttpRequest, root: str, shape: type[Input]) -> object:
    """Return the value under the root key, which is expected to have the ``shape``.

    Raise ``unsupported_media_type``, ``payload_too_large`` or ``validation_error``.
    """
    found = read_all(request, root, shape)
    found.problems.refuse()
    return found.value


def read_all(request: HttpRequest, root: str, shape: type[Input]) -> Body:
    """Return the value as :func:`read` does, with the problems for which :func:`read` would refuse it."""
    if request.content_type != "application/json":
        raise _not_json()
    content = _parse(_content(request))
    if not isinstance(content, dict) or root not in content:
        message = _("The body must be a JSON object with everything under the key “%(root)s”.")
        raise DomainError("validation_error", message % {"root": root})
    found = Body(content[root], Problems(), [])
    look_beside(content, root, shape, found.problems, found.passed_over)
    return found


def read_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body, an empty one where there is no body. Raise as :func:`read` does."""
    given = _content(request)
    if not given:
        return {}
    if request.content_type != "application/json":
        raise _not_json()
    content = _parse(given)
    if not isinstance(content, dict):
        raise DomainError("validation_error", _("The body must be a JSON object."))
    return content


def _not_json() -> DomainError:
    return DomainError("unsupported_media_type", _("The Content-Type must be application/json."))


def _content(request: HttpRequest) -> bytes:
    content = read_body(request, LARGEST)
    if content is None:
        message = _("The body is larger than the limit of %(limit)d MiB.")
        raise DomainError("payload_too_large", message % {"limit": LARGEST // 1024 // 1024})
    return content


def _parse(content: bytes) -> Any:
    try:
        return bounded_json.loads(content, MOST_PARTS, parse_constant=_refuse_constant)
    except bounded_json.TooManyError as error:
        message = _("The body contains more than %(limit)d arrays and objects.")
        raise DomainError("validation_error", message % {"limit": MOST_PARTS}) from error
    except UnicodeDecodeError as error:
        raise DomainError("validation_error", _("The body is not valid UTF-8.")) from error
    except bounded_json.TooDeepError as error:
        message = _("The body is nested more than %(limit)d levels deep.")
        raise DomainError("validation_error", message % {"limit": bounded_json.DEEPEST}) from error
    except ValueError as error:  # malformed, or a number of thousands of digits
        position = f" ({error})" if isinstance(error, json.JSONDecodeError) else ""
        raise DomainError("validation_error", _("The body is not valid JSON.") + position) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@contextmanager
def key_of(request: ApiRequest) -> Iterator[HeldKey | None]:
    """Yield the key that the call names, held for the call's path during the block; ``None`` where it names none.

    Raise ``validation_error`` for a malformed key and ``idempotency_key_in_use`` for one that another call holds.
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
    """Return the path of the call after ``/api/v1/``, with ids in their shortest form."""
    found = request.resolver_match
    assert found
    return re.sub(r"<int:(\w+)>", lambda name: str(found.kwargs[name[1]]), found.route.removeprefix("api/v1/"))


def created_once(
    held: HeldKey | None,
    content: object,
    create: Callable[[ExtraRows], Made],
    again: Callable[[int], Made | None],
    shown: Callable[[Made], Content],
) -> HttpResponse:
    """Answer with what ``create`` makes or, where the key made it before, with what ``again`` finds, ``None`` if it is
    gone. ``content``: the JSON value that is asked for. Raise ``idempotency_key_reused`` or ``gone``."""
    if held is None:
        return json_response(shown(create(lambda _: [])), 201)
    digest = _digest(content)
    resource_id = held.made_before(digest)
    if resource_id is None:
        return json_response(shown(create(held.extra_rows(digest))), 201)
    found = again(resource_id)
    if found is None:
        raise DomainError("gone", _("What was created with this Idempotency-Key has been deleted since."))
    response = json_response(shown(found), 201)
    response.headers["Idempotent-Replayed"] = "true"
    return response


def done_once(
    held: HeldKey | None, content: object, resource_id: int, act: Callable[[], object], read: Callable[[], Content]
) -> HttpResponse:
    """Let ``act`` change the resource, unless it did so before under the same key, and answer with what ``read``
    returns. ``content``: as for :func:`created_once`. Raise ``idempotency_key_reused``."""
    digest = _digest(content)
    if held and held.made_before(digest):
        response = json_response(read())
        response.headers["Idempotent-Replayed"] = "true"
        return response
    with transaction.atomic():
        act()
        insert(held.extra_rows(digest)(resource_id) if held else ())
    return json_response(read())


def _digest(value: object) -> bytes:
    """Return the SHA-256 of a JSON value, which neither the order of its keys nor its white space changes."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).digest()
