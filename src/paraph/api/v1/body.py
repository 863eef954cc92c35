"""Reading a JSON body."""

import json
from typing import Any, NamedTuple, NoReturn

from django.http import HttpRequest
from django.utils.translation import gettext as _

from paraph.kernel import bounded_json
from paraph.kernel.errors import DomainError
from paraph.server.incoming_body import read_body
from paraph.signature_requests.payload import look_beside
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import Input

LARGEST = 4 * 1024 * 1024  # bytes: a hundred signers on fifty documents fit
MOST_PARTS = 120_000  # arrays and objects: with ten stamps each, those have 110,000


class Body(NamedTuple):
    """The ``value`` under the root key; what is wrong with the keys beside it, and those that are passed over."""

    value: object
    problems: Problems
    passed_over: list[str]


def read(request: HttpRequest, root: str, shape: type[Input]) -> object:
    """Return the value under the root key, which is to have the ``shape``.

    Raises ``unsupported_media_type``, ``payload_too_large`` or ``validation_error``.
    """
    found = read_all(request, root, shape)
    found.problems.refuse()
    return found.value


def read_all(request: HttpRequest, root: str, shape: type[Input]) -> Body:
    """Return what :func:`read` does, with what it would refuse of the keys beside the root."""
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
    """Return the object that the body is, empty where there is no body. Raises as :func:`read` does."""
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
