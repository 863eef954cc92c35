"""Headers with underscores, which no client of ours sends (docs/decisions/header-names.md).

The server hands over ``X_Forwarded_For`` and ``X-Forwarded-For`` under one name, and which of them it was is lost. So a
proxy has to drop or refuse what has underscores, and ``paraph check`` looks whether it does, by a header that is
refused here.
"""

import json
from collections.abc import Callable
from typing import Any

from paraph.operations.check.proxy import PROBE
from paraph.web.strict_transport import strict_transport

_KEY = f"HTTP_{PROBE.upper()}"
_SENTENCE = "Headers with underscores in their names are refused."


def has_probe(environ: dict[str, Any]) -> bool:
    """Whether a header with an underscore came as far as this."""
    return _KEY in environ


def refuse(start_response: Callable[..., Any]) -> list[bytes]:
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store"), *strict_transport()]
    start_response("400 Bad Request", headers)
    return [json.dumps({"error": {"code": "bad_request", "message": _SENTENCE}}).encode()]
