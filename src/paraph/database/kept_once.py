"""JSON that many rows share, kept once by its digest, in a table with the columns ``sha256`` and ``content``."""

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from paraph.database.planned import one_row
from paraph.database.rows import insert_once
from paraph.kernel import tokens


def kept_once(model: type[Model], content: Mapping[str, Any]) -> int:
    """Return the id of the row with this content, made where there is none. It stays until the transaction of the
    caller ends, and then as long as something refers to it."""
    digest = tokens.sha256(json.dumps(content, sort_keys=True).encode())
    held = f"SELECT id FROM {model._meta.db_table} WHERE sha256 = %s FOR KEY SHARE"  # noqa: S608  our own name
    while (found := one_row(held, [digest])) is None:
        insert_once(model(sha256=digest, content=content))
    return int(found[0])
