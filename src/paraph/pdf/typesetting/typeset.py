"""Typst: a template of this package and JSON data in, a PDF out.

Data never becomes markup: it is one string literal. Equal template, data and time give equal bytes.

The data comes through the main file and not through ``sys.inputs``, on which Typst's cache would make everything
depend: so the parts that all documents share are set once per process.

In a web process, each call holds a place for expensive work (:mod:`paraph.kernel.places`), or raises ``NoPlaceError``.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import typst

from paraph.kernel.places import expensive_work
from paraph.pdf.typesetting.fonts import library

TEMPLATES = Path(__file__).parent / "templates"

_MAIN = "main"
"""The name of what is compiled. Typst numbers the files of a process and has 65,535 numbers: bytes without a name would
take a new one for each query, and end all typesetting."""

_compilers = threading.local()


class TypesettingError(Exception):
    """Typst gave up by a fault of its own, not of the template or the data."""


def typeset(
    template: str, content: Mapping[str, Any], *, standard: Literal["a-2b", "a-3b"], at: datetime | int = 0
) -> bytes:
    """Typeset ``templates/<template>.typ``, which defines a function of its own name, with ``content`` (plain JSON).

    ``at``: the time of creation in the PDF. ``standard`` is always an archival one, with which Typst refuses a glyph
    that no font has instead of drawing a box: it then raises ``typst.TypstError``, as for a fault in the template.
    Raise :class:`TypesettingError`.
    """
    with expensive_work(), _panics_raised():
        pdf = _compiler().compile(input=_main(template, content), format="pdf", pdf_standards=[standard], timestamp=at)
    assert isinstance(pdf, bytes)
    return pdf


def typeset_svg(template: str, content: Mapping[str, Any]) -> bytes:
    """Return one page as SVG, with letters as outlines, so that no font is needed to see it."""
    with expensive_work(), _panics_raised():
        svg = _compiler().compile(input=_main(template, content), format="svg")
    assert isinstance(svg, bytes)
    return svg


def answered(template: str, content: Mapping[str, Any]) -> Any:
    """Return what the template finds out, as the value of its one ``metadata`` that is labelled ``<answer>``."""
    with expensive_work(), _panics_raised():
        answer = _new_compiler({_MAIN: _main(template, content)}).query("<answer>", field="value", one=True)
        _compiler().compile(input=b"", format="svg")  # else what was remembered of the query is kept for ever
    return json.loads(answer)


@contextmanager
def _panics_raised() -> Iterator[None]:
    """Raise a panic of Typst as :class:`TypesettingError`. It comes as a ``BaseException``, which no handler of errors
    catches, and leaves the compiler of this thread unusable."""
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as panic:
        _compilers.__dict__.clear()
        raise TypesettingError(str(panic)) from panic


def _main(template: str, content: Mapping[str, Any]) -> bytes:
    data = _literal(json.dumps(content, ensure_ascii=False))
    return f'#import "/{template}.typ": {template}\n#{template}(json(bytes({data})))'.encode()


def _literal(text: str) -> str:
    """Write a text as a Typst string, in which only the quotation mark and the backslash have a meaning."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _compiler() -> typst.Compiler:
    """Return the compiler of this thread: a shared one raises "Already borrowed"."""
    if not hasattr(_compilers, "compiler"):
        _compilers.compiler = _new_compiler()
    compiler: typst.Compiler = _compilers.compiler
    return compiler


def _new_compiler(main: dict[str, bytes] | None = None) -> typst.Compiler:
    fonts = library()
    available = json.dumps({"cjk": fonts.has_cjk, "extra": fonts.extra_families})
    return typst.Compiler(  # type: ignore[type-var]  # its stubs lack what its guide has: files by their names
        input=main,
        root=TEMPLATES,
        font_paths=fonts.typst_fonts,
        ignore_system_fonts=True,
        sys_inputs={"fonts": available},
    )
