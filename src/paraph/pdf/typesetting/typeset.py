"""Runs Typst: a template of this package and data as JSON, a PDF back.

Data never becomes markup: it is one string literal. The same template, data and time give the same bytes.

Typst remembers what it has set, for as long as nothing changes that it asked for while it did so. Data among
``sys.inputs`` would change what everything asks for; handed over by the main file, it leaves what is the same in
every document to be set once.
"""

import json
import threading
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import typst

from paraph.pdf.typesetting.fonts import library

TEMPLATES = Path(__file__).parent / "templates"

_compilers = threading.local()


def typeset(
    template: str, content: Mapping[str, Any], *, standard: Literal["a-2b", "a-3b"], at: datetime | int = 0
) -> bytes:
    """The PDF of ``templates/<template>.typ`` for ``content`` (plain JSON), created ``at`` that time. The file defines
    a function of its own name, which is called with the content.

    Always an archival ``standard``, because Typst then refuses a glyph that no font has instead of drawing a box.
    Raises ``typst.TypstError`` then, and for a fault in the template.
    """
    data = _literal(json.dumps(content, ensure_ascii=False))
    main = f'#import "/{template}.typ": {template}\n#{template}(json(bytes({data})))'
    pdf = _compiler().compile(input=main.encode(), format="pdf", pdf_standards=[standard], timestamp=at)
    assert isinstance(pdf, bytes)
    return pdf


def _literal(text: str) -> str:
    """The text as a string of Typst, in which nothing but these two characters means anything."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _compiler() -> typst.Compiler:
    """One compiler per thread: a shared one raises "Already borrowed"."""
    if not hasattr(_compilers, "own"):
        fonts = library()
        available = json.dumps({"cjk": fonts.has_cjk, "extra": fonts.extra_families})
        _compilers.own = typst.Compiler(
            root=TEMPLATES, font_paths=fonts.typst_fonts, ignore_system_fonts=True, sys_inputs={"fonts": available}
        )
    own: typst.Compiler = _compilers.own
    return own
