"""Bundles as the service makes them, and as a forger would make them."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paraph.bundle.make import open_bundle
from paraph.flow.sealing.context import sealing_context
from paraph.pdf import asic
from paraph.pdf.asic import ZipWriter
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.verify import check_bundle
from tests.factories import Scene, finish, scene

MADE_LAST = ("mimetype", asic.SUMS, asic.MANIFEST, asic.TIMESTAMP, asic.AUTHORITY)


def finished(**options: Any) -> Scene:
    return finish(scene(**options))


def bundle_of(made: Scene) -> bytes:
    with open_bundle(made.request.pk) as file:
        return file.read()


def checked(bundle: bytes) -> EvidenceCheck:
    return check_bundle(bundle, sealing_context().roots("sandbox"))


def parts_of(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


Timestamp = Callable[[bytes], tuple[bytes, Sequence[bytes]] | None]


def made_anew(
    bundle: bytes, changed: Mapping[str, bytes | None], timestamp: Timestamp = lambda _manifest: None
) -> bytes:
    """Return the bundle with parts changed, added or, where the content is None, left out. Digests, manifest and form
    are right. The timestamp is the old one unless ``changed`` replaces it; if left out, ``timestamp`` makes another."""
    parts: dict[str, bytes] = {name: each for name, each in {**parts_of(bundle), **changed}.items() if each is not None}
    file = io.BytesIO()
    with ZipWriter(file) as writer:
        asic.begin(writer)
        for name, content in parts.items():
            if name not in MADE_LAST:
                writer.add(name, [content])
        asic.end(writer, timestamp)
    if asic.TIMESTAMP not in parts:
        return file.getvalue()
    return zipped([*parts_of(file.getvalue()).items(), *((name, parts[name]) for name in MADE_LAST[-2:])])


def zipped(members: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a ZIP in the form of a bundle, with any members."""
    file = io.BytesIO()
    with ZipWriter(file) as writer:
        for name, content in members:
            writer.add(name, [content])
    return file.getvalue()
