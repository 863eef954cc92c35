"""Whatever is altered in a bundle is seen, by whoever it was altered, and no archive of another form is read."""

import io
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from paraph.flow.sealing.context import sealing_context
from paraph.pdf.container import asic, zip_form
from paraph.pdf.container.zip_form import MOST_MEMBERS, ZipRefused, read_members
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.verify import check_bundle
from tests.bundle.bundles import bundle_of, finished, made_anew, moment_of, parts_of, zipped

pytestmark = pytest.mark.django_db

SIGNED, UPLOADED = "signed/contract-1-signed.pdf", "uploaded/contract-1.pdf"
_ADDED = "uploaded/further.pdf"


class World(NamedTuple):
    bundle: bytes
    other: bytes


@pytest.fixture
def world() -> World:
    """A bundle, and that of another request of the same service."""
    return World(bundle_of(finished()), bundle_of(finished()))


def checked(bundle: bytes) -> EvidenceCheck:
    return check_bundle(bundle, sealing_context().roots("sandbox"))


def flipped(content: bytes, at: int = -1) -> bytes:
    place = at % len(content)
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def alterations(bundle: bytes, other: bytes) -> Iterator[tuple[str, bytes]]:
    """Each made by somebody who can compute digests and write ZIP files, and has bundles of other requests."""
    mine, theirs = parts_of(bundle), parts_of(other)
    for name in (asic.PROOF, SIGNED, UPLOADED):
        yield f"a byte of {name}", made_anew(bundle, {name: flipped(mine[name], len(mine[name]) // 2)})
        yield f"a byte behind {name}", made_anew(bundle, {name: mine[name] + b"\n"})
    for name in (asic.JOURNAL, asic.TIMESTAMPS, asic.CERTIFICATES, asic.ROOTS, asic.README):
        yield f"a byte behind {name}", made_anew(bundle, {name: mine[name] + b"\n"})
    for name in (asic.JOURNAL, asic.README, SIGNED):
        yield f"{name} of another request", made_anew(bundle, {name: theirs[name]})
    yield (
        "everything but the timestamp of another request",
        made_anew(other, {asic.TIMESTAMP: mine[asic.TIMESTAMP], asic.AUTHORITY: mine[asic.AUTHORITY]}),
    )
    yield "an upload left out", made_anew(bundle, {UPLOADED: None})
    yield "an upload added", made_anew(bundle, {_ADDED: mine[UPLOADED]})
    yield "an upload by another name", made_anew(bundle, {UPLOADED: None, _ADDED: mine[UPLOADED]})
    yield "no timestamp", made_anew(bundle, {asic.TIMESTAMP: None})
    yield "a byte of the timestamp", made_anew(bundle, {asic.TIMESTAMP: flipped(mine[asic.TIMESTAMP])})
    yield "a byte behind the timestamp", made_anew(bundle, {asic.TIMESTAMP: mine[asic.TIMESTAMP] + b"\0"})
    yield "a byte behind its authority", made_anew(bundle, {asic.AUTHORITY: mine[asic.AUTHORITY] + b"\n"})
    yield "no authority", made_anew(bundle, {asic.AUTHORITY: b""})
    for name in (asic.SUMS, asic.MANIFEST, "mimetype"):
        members = [(each, flipped(content) if each == name else content) for each, content in mine.items()]
        yield f"a byte of {name}", zipped(members, bundle)
    yield "another order", zipped([*reversed(list(mine.items())[1:-4]), *list(mine.items())[-4:]], bundle)


def test_every_alteration_is_seen(world: World) -> None:
    assert made_anew(world.bundle, {}) == world.bundle
    assert checked(world.bundle).ok and checked(world.other).ok
    tried = dict(alterations(*world))
    assert len(tried) >= 20
    told = {what: checked(altered) for what, altered in tried.items()}
    assert [what for what, found in told.items() if found.ok] == []
    assert [what for what, found in told.items() if not found.problems] == []


def test_a_byte_anywhere_is_seen(world: World) -> None:
    """Without digests made anew, one of every part of the archive."""
    step = len(world.bundle) // 60
    for place in range(0, len(world.bundle), step):
        assert not checked(flipped(world.bundle, place)).ok, place


def test_a_bundle_of_strangers_is_not_said_to_be_altered(world: World) -> None:
    found = check_bundle(world.bundle, [])
    assert (found.verdict.indication, found.verdict.word) == ("INDETERMINATE", "unknown")


def _by_zipfile(bundle: bytes, add: Callable[[zipfile.ZipFile], None]) -> bytes:
    """What a ZIP library writes of the files, and then ``add``."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts_of(bundle).items():
            archive.writestr(zipfile.ZipInfo(name, moment_of(bundle).timetuple()[:6]), content)
        add(archive)
    return file.getvalue()


def _named(name: str) -> Callable[[bytes], bytes]:
    def made(bundle: bytes) -> bytes:
        members = list(parts_of(bundle).items())
        return zipped([*members[:-4], (name, b"%PDF-1.7"), *members[-4:]], bundle)

    return made


def _linked(bundle: bytes) -> bytes:
    def add(archive: zipfile.ZipFile) -> None:
        link = zipfile.ZipInfo("uploaded/passwords.pdf")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")

    return _by_zipfile(bundle, add)


def _bomb(bundle: bytes) -> bytes:
    def add(archive: zipfile.ZipFile) -> None:
        archive.writestr(zipfile.ZipInfo(_ADDED), bytes(50 << 20), zipfile.ZIP_DEFLATED, 9)

    return _by_zipfile(bundle, add)


def _zip64(bundle: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts_of(bundle).items():
            with archive.open(zipfile.ZipInfo(name, moment_of(bundle).timetuple()[:6]), "w", force_zip64=True) as entry:
                entry.write(content)
    return file.getvalue()


def _commented(bundle: bytes) -> bytes:
    def add(archive: zipfile.ZipFile) -> None:
        archive.comment = b"%PDF-1.7"

    return _by_zipfile(bundle, add)


def _twice(bundle: bytes) -> bytes:
    members = list(parts_of(bundle).items())
    return zipped([*members[:-4], (SIGNED, b"%PDF-1.7"), *members[-4:]], bundle)


def _directory_renames(bundle: bytes) -> bytes:
    """The directory, which most programs go by, has another name than what stands before the content."""
    end = bundle.rindex(b"PK\5\6")
    [start] = struct.unpack_from("<L", bundle, end + 16)
    return bundle[:start] + bundle[start:].replace(UPLOADED.encode(), b"uploaded/contract-2.pdf")


def _directory_hides(bundle: bytes) -> bytes:
    """The directory leaves its last file out."""
    end = bundle.rindex(b"PK\5\6")
    [start] = struct.unpack_from("<L", bundle, end + 16)
    entry, count = bundle.rindex(b"PK\1\2"), struct.unpack_from("<H", bundle, end + 8)[0] - 1
    return bundle[:entry] + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, entry - start, start, 0)


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a path upwards": (_named("../../etc/cron.d/x"), "No bundle has a file with the name"),
    "a path upwards in a folder": (_named("uploaded/../x.pdf"), "No bundle has a file with the name"),
    "an absolute path": (_named("/etc/passwd"), "No bundle has a file with the name"),
    "a drive": (_named("C:\\x.pdf"), "No bundle has a file with the name"),
    "a hidden file": (_named("uploaded/.profile.pdf"), "No bundle has a file with the name"),
    "an escape": (_named("uploaded/\x1b[2J.pdf"), "No bundle has a file with the name"),
    "an archive within": (_named("uploaded/inner.zip"), "No bundle has a file with the name"),
    "a folder": (_named("uploaded/"), "No bundle has a file with the name"),
    "one name twice": (_twice, "Two files in it have one name"),
    "one name in two spellings": (
        _named(SIGNED.upper().replace("SIGNED/", "signed/").replace("PDF", "pdf")),
        "one name",
    ),
    "a link": (_linked, "says something else than its files"),
    "a bomb": (_bomb, "packed, encrypted, linked or described otherwise"),
    "ZIP64": (_zip64, "packed, encrypted, linked or described otherwise"),
    "a comment": (_commented, "says something else than its files"),
    "bytes behind": (lambda bundle: bundle + b"%PDF-1.7", "or more follows it"),
    "bytes before": (lambda bundle: b"%PDF-1.7\n" + bundle, "says something else"),
    "encrypted": (lambda bundle: bundle[:6] + b"\1" + bundle[7:], "packed, encrypted"),
    "another size": (lambda bundle: bundle[:22] + b"\xff\xff\xff\xff" + bundle[26:], "otherwise"),
    "sizes beyond the end": (lambda bundle: bundle[:18] + b"\xff" * 8 + bundle[26:], "cut off or was altered"),
    "cut off": (lambda bundle: bundle[:-30], "says something else"),
    "a directory with other names": (_directory_renames, "says something else"),
    "a directory with fewer files": (_directory_hides, "says something else"),
    "no files": (lambda bundle: zipped([], bundle), "does not begin with the type of a bundle"),
    "an empty directory": (lambda _: b"PK\3\4", "says something else"),
    "too many files": (
        lambda bundle: zipped([(f"uploaded/{n}.pdf", b"") for n in range(MOST_MEMBERS + 1)], bundle),
        "more than",
    ),
    "another type": (lambda bundle: zipped([("mimetype", b"application/epub+zip")], bundle), "the type of a bundle"),
}


def test_hostile_archives_are_refused_with_a_sentence(world: World) -> None:
    for what, (made, sentence) in HOSTILE.items():
        found = checked(made(world.bundle))
        assert not found.ok and not found.sealed, what
        [problem] = found.problems
        assert problem.startswith("This is no bundle of evidence as it was made: ") and sentence in problem, (
            what,
            problem,
        )


def test_a_large_part_is_not_read(world: World) -> None:
    for name in (asic.JOURNAL, asic.TIMESTAMPS):
        found = checked(made_anew(world.bundle, {name: b"[" * (33 << 20)}))
        assert not found.ok and any("larger than" in each or "not the journal" in each for each in found.problems)


def test_what_is_too_large_is_neither_written_nor_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_form, "LARGEST", len(world.bundle) - 1)
    with pytest.raises(OverflowError):
        made_anew(world.bundle, {_ADDED: world.bundle})
    with pytest.raises(ZipRefused, match="It is larger than"):
        read_members(io.BytesIO(world.bundle))
