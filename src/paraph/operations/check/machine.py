"""This machine: its secret key, its database sessions, its disks and fonts, and the confinement of its readers."""

import contextlib
import tempfile
from pathlib import Path
from shutil import disk_usage

from django.conf import settings
from procrastinate.contrib.django.utils import connector_params

from paraph.database.connections import UNKEPT, keeps_sessions
from paraph.kernel.secrets import fingerprint
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.typesetting.field_values import FieldContent, field_picture, fitted_size
from paraph.pdf.typesetting.fonts import CJK, library
from paraph.pdf.untrusted.inspect import second_renderer
from paraph.pdf.untrusted.sandbox import sandbox_confinement
from paraph.postgres.cluster import find_location
from paraph.storage import store
from paraph.tenants.installation import fingerprint_in_use, secret_is_ours

_MIB = 1024 * 1024
_WARNING, _FAILED = 0.90, 0.97
_ADVICE = "docs/faults.md says what to do."


def secret_key() -> Outcome:
    """``secret key``: whether this machine has the secret in use, and whether a newer one waits to be put into use."""
    if secret_is_ours():
        if fingerprint_in_use() != fingerprint(settings.SECRETS.newest):
            return warning("The earlier secret is still in use: once all machines have both, paraph secret rotate.")
        return ok("The secret key is that of the installation.")
    return failed(
        "The secret key of this machine is not that of the installation: its links, codes and secrets would be void "
        "elsewhere. Give it the same PARAPH_SECRET_KEY, or the same secret.key in its data folder, as the others have."
    )


def sessions() -> Outcome:
    """``sessions``: whether connections keep their sessions, or a pooler shares them between transactions."""
    if keeps_sessions(**connector_params()):
        return ok("Connections to the database keep their sessions.")
    return failed(UNKEPT)


def free_space() -> Outcome:
    """``space``: failed below the floor at which uploads are refused, a warning below twice the floor."""
    free, floor = store.free_bytes() // _MIB, settings.PARAPH.free_space_mb
    if not floor:
        return ok(f"{free} MiB of the disk are free.")
    if free < floor:
        return failed(f"{free} MiB of the disk are free; uploads are refused below {floor} MiB.")
    if free < 2 * floor:
        return warning(f"{free} MiB of the disk are free; uploads will be refused below {floor} MiB.")
    return ok(f"{free} MiB of the disk are free; uploads are refused below {floor} MiB.")


def folders() -> dict[str, Path]:
    """Return the folders that the service writes to: ``data``, ``temporary`` and, if embedded, ``database``."""
    found = {"data": Path(settings.DATA_DIR), "temporary": Path(tempfile.gettempdir())}
    if not settings.PARAPH.database_url:
        found["database"] = find_location(settings.DATA_DIR, settings.PARAPH.postgres_dir).home
    return found


def used_shares() -> dict[str, float]:
    """Return the used share of each folder's disk, counted as ``df`` does, without folders that cannot be read."""
    shares = {}
    for name, folder in folders().items():
        with contextlib.suppress(OSError):
            usage = disk_usage(folder)
            shares[name] = usage.used / ((usage.used + usage.free) or 1)
    return shares


def disks() -> Outcome:
    """Report the fullest disk."""
    share, name = max((share, name) for name, share in used_shares().items())
    sentence = f"The disk of the {name} folder {folders()[name]} is {share:.0%} full"
    if share >= _FAILED:
        return failed(f"{sentence}: nothing more can be written soon.")
    if share >= _WARNING:
        return warning(f"{sentence}.")
    return ok(f"{sentence}; no other one is fuller.")


def confinement() -> Outcome:
    """``confinement``: that of the processes that read PDFs, reported by one that is started for the check."""
    try:
        found = sandbox_confinement()
    except ReadersUnavailable:
        return failed("No process that reads PDFs starts; the log says why.")
    if settings.PARAPH.confinement == "strict" and not found.complete:
        return failed(f"PARAPH_CONFINEMENT is strict. {found.sentence} {_ADVICE}")
    if found.holds and not found.blind:
        return ok(found.sentence)
    return warning(f"{found.sentence} {_ADVICE}")


def other_renderer() -> Outcome:
    """Report whether a second renderer looks at pages that readers may draw differently."""
    if program := second_renderer():
        return ok(f"Pages that readers may draw differently are compared with those of {program}.")
    sentence = "Pages that readers may draw differently are not compared with another renderer's"
    return warning(f"{sentence}: pdftoppm is not installed (Debian: poppler-utils and poppler-data).")


def typesetting() -> Outcome:
    """Measure and typeset a value, as this process does for stamps and fields."""
    value = FieldContent(100, 12, "A value that is measured")
    if fitted_size(value) and field_picture(value):
        return ok("Stamps and values are typeset.")
    return failed("A short value does not fit in its box.")


def fonts() -> Outcome:
    """Name the scripts whose letters no font has. New fonts are noticed at the next start of the service."""
    missing = library().missing
    others = ", ".join(script for script in missing if script != CJK)
    if CJK in missing:
        sentence = f"No font here has {CJK} letters: stamps and proofs have the e-mail address in place of such a name."
        more = f" Missing as well: {others}." if others else ""
        return warning(f"{sentence} Install Noto Sans CJK (Debian: fonts-noto-cjk), and start again.{more}")
    if others:
        sentence = f"Names are written in their own letters, but for these, which are written in Latin ones: {others}."
        return ok(f"{sentence} Debian's fonts-noto-core has them.")
    return ok("Names are written in their own letters.")
