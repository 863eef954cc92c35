"""What an assistant may upload: PDFs of the folders that a person has named."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

LARGEST = 50 * 1024 * 1024  # bytes


def read_pdf(file: str, folders: Sequence[Path]) -> tuple[str, bytes]:
    """Return the name and the bytes of a PDF below one of the ``folders``, which are absolute and have no links in
    them; a relative path is looked for in each. Links are followed to places below the folder alone.

    Raise ``OSError`` with a sentence for anything else: what lies elsewhere, whether it exists or not, what is no
    regular file, does not begin as a PDF does, or has more than :data:`LARGEST` bytes.
    """
    if not folders:
        raise PermissionError("No folder is named to upload from: start the server with --folder.")
    inside = [(folder, Path(os.path.realpath(folder / file))) for folder in folders if "\0" not in file]
    inside = [(folder, path) for folder, path in inside if path.is_relative_to(folder)]
    if not inside:
        raise PermissionError(f"{file!r} is in none of the folders to upload from: {', '.join(map(str, folders))}.")
    folder, path = next((each for each in inside if each[1].exists()), inside[0])
    try:
        place = _opened(folder, path.relative_to(folder).parts)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"{file!r} does not exist.") from error
    except OSError as error:
        raise PermissionError(f"{file!r} cannot be read: {error.strerror}.") from error
    with os.fdopen(_regular(place, file), "rb") as opened:
        start = opened.read(5)
        if start != b"%PDF-":
            raise PermissionError(f"{file!r} is no PDF: it does not begin with %PDF-.")
        content = start + opened.read(LARGEST)
    if len(content) > LARGEST:
        raise PermissionError(f"{file!r} is larger than {LARGEST // 1024 // 1024} MiB.")
    return path.name, content


def _regular(place: int, file: str) -> int:
    mode = os.fstat(place).st_mode
    if not stat.S_ISREG(mode):
        os.close(place)
        raise PermissionError(f"{file!r} is a folder." if stat.S_ISDIR(mode) else f"{file!r} is no file.")
    return place


def _opened(folder: Path, parts: Sequence[str]) -> int:
    """Open a file below the folder step by step, so that nobody puts a link in the way meanwhile."""
    plain = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(folder.joinpath(*parts), plain)
    place = os.open(folder, os.O_RDONLY)
    for part in parts:
        try:
            following = os.open(part, plain, dir_fd=place)
        finally:
            os.close(place)
        place = following
    return place
