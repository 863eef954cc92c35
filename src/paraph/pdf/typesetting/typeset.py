"""Typst: a template of this package and JSON data in, a PDF out.

Data never becomes markup: it is one string literal. Equal template, data and time give equal bytes.

The data comes through the main file and not through ``sys.inputs``, on which Typst's cache would make everything
depend: so the parts that all documents share are set once per process.

A process has 65,535 ids for files, and none is freed. A compiler takes only one for its main file, whatever that
contains later: so compilers are kept, as many as ever work at once.

In a web process, each call holds a place for expensive work (:mod:`paraph.kernel.places`), or raises ``NoPlaceError``.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import typst

from paraph.kernel.places import expensive_work
from paraph.pdf.typesetting.fonts import library

TEMPLATES = Path(__file__).parent / "templates"

_idle: list[typst.Compiler] = []  # a compiler that two threads share raises "Already borrowed"


class TypesettingError(Exception):
    """Typst failed through a fault of its own, not of the template or the data."""


def typeset(
    template: str, content: Mapping[str, Any], *, standard: Literal["a-2b", "a-3b"], at: datetime | int = 0
) -> bytes:
    """Typeset ``templates/<template>.typ``, which defines a function of its own name, with ``content`` (plain JSON).

    ``at``: the time of creation in the PDF. ``standard`` is always an archival one, with which Typst refuses a glyph
    that no font has instead of drawing a box: it then raises ``typst.TypstError``, as for a fault in the template.
    Raise :class:`TypesettingError`.
    """
    return _compiled(template, content, format="pdf", pdf_standards=[standard], timestamp=at)


def typeset_svg(template: str, content: Mapping[str, Any]) -> bytes:
    """Return one page as SVG, with letters as outlines, so that no font is needed to see it."""
    return _compiled(template, content, format="svg")


def measured(template: str, content: Mapping[str, Any]) -> list[float]:
    """Return the numbers that the template measures and gives as the address of its one link: ``measured:1,2,…``."""
    found = re.search(rb'<a href="measured:([^"]+)"', typeset_svg(template, content))
    assert found
    return [float(number) for number in found[1].split(b",")]


def _compiled(template: str, content: Mapping[str, Any], **options: Any) -> bytes:
    with expensive_work(), _panics_raised(), _compiler() as compiler:
        made = compiler.compile(input=_main(template, content), **options)
    assert isinstance(made, bytes)
    return made


@contextmanager
def _panics_raised() -> Iterator[None]:
    """Raise a panic of Typst as :class:`TypesettingError`. It comes as a ``BaseException``, which no handler of errors
    catches."""
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as panic:
        raise TypesettingError(str(panic)) from panic


@contextmanager
def _compiler() -> Iterator[typst.Compiler]:
    """Lend a compiler that nobody uses. It is not taken back after a panic, which leaves it unusable."""
    try:
        compiler = _idle.pop()
    except IndexError:
        fonts = library()
        available = json.dumps({"cjk": fonts.has_cjk, "extra": fonts.extra_families})
        compiler = typst.Compiler(
            root=TEMPLATES, font_paths=fonts.typst_fonts, ignore_system_fonts=True, sys_inputs={"fonts": available}
        )
    try:
        yield compiler
    except Exception:
        _idle.append(compiler)
        raise
    _idle.append(compiler)


def _main(template: str, content: Mapping[str, Any]) -> bytes:
    """Return a file with the data as a Typst string, in which only backslash and quotation mark are special."""
    data = json.dumps(content, ensure_ascii=False).replace("\\", "\\\\").replace('"', '\\"')
    return f'#import "/{template}.typ": {template}\n#{template}(json(bytes("{data}")))'.encode()
