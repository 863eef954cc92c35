"""Every message of the dashboard that is translated: what its templates and its Python code say."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.utils.translation.template import templatize

import paraph

SOURCE = Path(paraph.__file__).parent
CATALOGS = SOURCE / "dashboard" / "locale"
ROOMS = [SOURCE / room for room in ("dashboard", "drafts", "request_templates")]
SHARED = [file for room in ("flow", "tenants", "webhooks") for file in sorted((SOURCE / room).rglob("*.py"))]
SHARED.append(SOURCE / "signature_requests/fields/kinds.py")
"""Files whose messages stand in the catalog of dashboard or API: Django reads both as one."""

LABELS = [SOURCE / noun / "models.py" for noun in ("tenants", "signature_requests", "webhooks")]
_CALL = re.compile(
    r"""\b(n?gettext|_)\(u?((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),?\s*(?:u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))?)"""
)

Message = tuple[str, str]  # a message and its plural, "" where it has none


@cache
def messages() -> set[Message]:
    """Return the messages in English, without shared ones that the catalogs of the API translate."""
    files = [*LABELS, *(file for room in ROOMS for file in sorted(room.rglob("*")))]
    shared = {message for file in SHARED for message in _of(file)}
    of_the_api = (SOURCE / "api" / "locale" / "de" / "LC_MESSAGES" / "django.po").read_text()
    elsewhere = {message for message in shared if json.dumps(message[0], ensure_ascii=False) in of_the_api}
    return {message for file in files for message in _of(file)} | (shared - elsewhere)


def _of(file: Path) -> Iterator[Message]:
    if file.suffix == ".py":
        yield from _calls(ast.parse(file.read_text()))
    elif file.suffix in (".html", ".txt"):
        for found in _CALL.finditer(templatize(file.read_text(), origin=str(file))):
            yield from _calls(ast.parse(f"{found[1]}({found[2]})"))


def _calls(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, texts = node.func.id, node.args
            if name in ("_", "gettext", "gettext_lazy", "gettext_noop", "N_"):
                yield ast.literal_eval(texts[0]), ""
            elif name in ("ngettext", "ngettext_lazy"):
                yield ast.literal_eval(texts[0]), ast.literal_eval(texts[1])
