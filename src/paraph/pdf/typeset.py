"""Runs Typst: a template of this package and data as JSON, a PDF back.

Data never becomes markup: the templates read it from ``sys.inputs`` as strings. The same template, data and time
give the same bytes.
"""

import json
import threading
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import typst

from paraph.pdf.fonts import Library, library

TEMPLATES = Path(__file__).parent / "templates"

_compilers = threading.local()


def typeset(
    template: str, content: Mapping[str, Any], *, standard: Literal["a-2b", "a-3b"], at: datetime | int = 0
) -> bytes:
    """The PDF of ``templates/<template>.typ`` for ``content`` (plain JSON), created ``at`` that time.

    Always an archival ``standard``, because Typst then refuses a glyph that no font has instead of drawing a box.
    Raises ``typst.TypstError`` then, and for a fault in the template.
    """
    fonts = library()
    inputs = {
        "content": json.dumps(content, ensure_ascii=False),
        "fonts": json.dumps({"cjk": fonts.has_cjk, "extra": fonts.extra_families}),
    }
    pdf = _compiler(template, fonts).compile(format="pdf", sys_inputs=inputs, pdf_standards=[standard], timestamp=at)
    assert isinstance(pdf, bytes)
    return pdf


def _compiler(template: str, fonts: Library) -> typst.Compiler:
    """One compiler per thread and template: a shared one raises "Already borrowed"."""
    own: dict[str, typst.Compiler] = _compilers.__dict__.setdefault("by_template", {})
    if template not in own:
        own[template] = typst.Compiler(
            input=TEMPLATES / f"{template}.typ", root=TEMPLATES, font_paths=fonts.typst_fonts, ignore_system_fonts=True
        )
    return own[template]
