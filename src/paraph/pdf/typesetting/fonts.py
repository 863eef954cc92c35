"""The fonts of stamps and proofs: one library per process, the same on every machine.

FiraGO, Noto Sans, Fira Mono and symbols come from the PyPI package ``pymupdf-fonts`` (SIL Open Font License);
Libertinus Serif is built into Typst; the handwriting of :data:`HANDS` comes from packages named ``fontpkg-…`` (the same
license). Of the system's fonts only :data:`SYSTEM_FONTS` are used, for scripts that no package covers; so a proof does
not depend on anything else that is installed.
"""

import hashlib
import importlib
import importlib.resources
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path

import typst
from fontTools.ttLib import TTFont

COVERING = (
    "FiraGO_Regular", "NotoSans_Regular",
    "NotoSansSymbols_Regular", "NotoSansSymbols2_Regular", "NotoSansMath_Regular",
)  # fmt: skip
PACKAGED = (
    *COVERING,
    "FiraGO_Bold", "FiraGO_Italic", "FiraGO_BoldItalic", "NotoSans_Bold", "FiraMono_Regular", "FiraMono_Bold",
)  # fmt: skip
HANDS = {
    "GreatVibes-Regular": ("fontpkg-great-vibes", "GreatVibes-Regular.ttf"),
    "Caveat": ("fontpkg-caveat", "Caveat[wght].ttf"),
    "DancingScript": ("fontpkg-dancing-script", "DancingScript[wght].ttf"),
    "Kalam-Regular": ("fontpkg-kalam", "Kalam-Regular.ttf"),
}
"""The four hands in their order: the package of each, and its file there."""
_SCRIPTS = (
    "Armenian", "Bengali", "Ethiopic", "Gujarati", "Gurmukhi", "Kannada", "Khmer", "Lao", "Malayalam", "Mongolian",
    "Myanmar", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu", "Thaana", "Tibetan",
)  # fmt: skip
SYSTEM_FONTS = (
    "NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc",
    *(f"NotoSans{script}-Regular.ttf" for script in _SCRIPTS),
    "NotoColorEmoji.ttf",
)  # fmt: skip
CJK = "Chinese, Japanese and Korean"
SYSTEM_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path("/Library/Fonts"))


@dataclass(frozen=True, eq=False)
class FontFile:
    """A font file, with the characters that it has glyphs for, read at first use."""

    path: Path

    @cached_property
    def characters(self) -> frozenset[int]:
        with TTFont(self.path, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap())

    @cached_property
    def family(self) -> str:
        with TTFont(self.path, fontNumber=0, lazy=True) as font:
            return str(font["name"].getDebugName(16) or font["name"].getDebugName(1))


@dataclass(frozen=True, eq=False)
class Library:
    """The fonts for Typst. ``covering``: the files that decide which characters can be written, in Typst's order.
    ``hands``: the files of :data:`HANDS`."""

    typst_fonts: typst.Fonts
    covering: Sequence[FontFile]
    hands: Sequence[FontFile]
    system: Sequence[FontFile] = field(default=())

    @property
    def has_cjk(self) -> bool:
        return any(font.path.name.startswith("NotoSansCJK") for font in self.system)

    @property
    def missing(self) -> list[str]:
        """The scripts, in English, for which this machine has none of :data:`SYSTEM_FONTS`."""
        found = {font.path.name for font in self.system}
        others = [script for script in _SCRIPTS if f"NotoSans{script}-Regular.ttf" not in found]
        return [*([] if self.has_cjk else [CJK]), *others, *(["emoji"] if "NotoColorEmoji.ttf" not in found else [])]

    @cached_property
    def extra_families(self) -> list[str]:
        """The families of the system's files except CJK, for the end of a template's font list."""
        return [font.family for font in self.system if not font.path.name.startswith("NotoSansCJK")]


_lock = threading.Lock()
_chosen: list[Path] = []


def library() -> Library:
    """Return the library of this process, made at the first call. Thread-safe."""
    with _lock:
        return _load()


def keep_fonts_in(folder: Path) -> None:
    """Keep the font files in ``folder``, made when missing, instead of a temporary one, which machines clean up
    while a service runs. Must be called before the library is first used."""
    _chosen[:] = [folder]


def open_library(folder: Path, system_folders: Sequence[Path] = SYSTEM_FOLDERS) -> Library:
    """Make a library with its files in ``folder``, after searching ``system_folders`` for :data:`SYSTEM_FONTS`."""
    system_files = _system_files(system_folders)
    filled = _fill(folder, system_files)
    covering = [FontFile(filled / f"{name}.ttf") for name in COVERING]
    system = [FontFile(filled / path.name) for path in system_files if "Bold" not in path.name]
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True, font_paths=[filled])
    hands = [FontFile(filled / f"{name}.ttf") for name in HANDS]
    return Library(fonts, [*covering, *system], hands, system)


@lru_cache(maxsize=1)
def _load() -> Library:
    return open_library(_chosen[0] if _chosen else _temporary_folder())


def _temporary_folder() -> Path:
    """Return a folder under the system's temporary one that only this user can write to."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"paraph-fonts-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
        if folder.is_symlink() or state.st_uid != user or state.st_mode & 0o022:
            raise PermissionError
    except OSError:  # another user's folder of that name, whose files must not get into documents
        return Path(tempfile.mkdtemp(prefix="paraph-fonts-"))
    return folder


def _system_files(folders: Sequence[Path]) -> list[Path]:
    wanted = {name: order for order, name in enumerate(SYSTEM_FONTS)}
    found: dict[str, Path] = {}
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                if name in wanted:
                    found.setdefault(name, Path(parent) / name)
    return sorted(found.values(), key=lambda path: wanted[path.name])


def _fill(folder: Path, system: Sequence[Path]) -> Path:
    """Fill a folder in ``folder`` with exactly these files, those of the system as links: Typst takes only folders.

    Each file is written aside and moved into place, so that processes that start together see whole files or none.
    Files that a cleaner of temporary folders removed are written again.
    """
    versions = [version(package) for package in ("pymupdf-fonts", *(package for package, _ in HANDS.values()))]
    key = "\n".join([*versions, *PACKAGED, *HANDS, *map(str, system)])
    filled = folder / hashlib.sha256(key.encode()).hexdigest()[:16]
    filled.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        for name in (*PACKAGED, *HANDS):
            if not (filled / f"{name}.ttf").exists():
                partial = Path(aside) / name
                partial.write_bytes(_packaged(name))
                partial.replace(filled / f"{name}.ttf")
        for path in system:
            if not (filled / path.name).exists():
                partial = Path(aside) / path.name
                partial.symlink_to(path)
                partial.replace(filled / path.name)
    return filled


def _packaged(name: str) -> bytes:
    if name in HANDS:
        package, file = HANDS[name]
        return (importlib.resources.files(package.replace("-", "_")) / "files" / file).read_bytes()
    module = f"pymupdf_fonts.{name}"
    content = bytes(importlib.import_module(module).fontbuffer)
    sys.modules.pop(module, None)  # the package keeps half a megabyte per font in memory otherwise
    return content
