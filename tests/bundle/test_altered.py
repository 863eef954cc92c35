"""Any alteration of a bundle is seen, whoever made it, and no archive of another form is read."""

import hashlib
import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from paraph.flow.sealing.context import sealing_context
from paraph.kernel import tokens
from paraph.pdf import asic
from paraph.pdf.asic import MOST_MEMBERS, ZipRefused, read_members
from paraph.pdf.timestamps.timestamp import stamp_time
from paraph.pdf.untrusted.verify import check_bundle
from tests.bundle.bundles import bundle_of, checked, finished, made_anew, parts_of, zipped
from tests.pdf.pdf_factory import flipped

pytestmark = pytest.mark.django_db

SIGNED, UPLOADED = "signed/contract-1-signed.pdf", "uploaded/contract-1.pdf"
_ADDED = "uploaded/further.pdf"


class World(NamedTuple):
    bundle: bytes
    other: bytes


@pytest.fixture
def world() -> World:
    """Return a bundle, and that of another request of the same service."""
    return World(bundle_of(finished()), bundle_of(finished()))


def with_another_value(journal: bytes) -> bytes:
    """Return the journal with a false IP address, and with the commitment to the real one in place of its salt, as if
    the real address had been erased."""
    entries: list[dict[str, Any]] = json.loads(journal)
    entry = next(each for each in entries if "ip" in each.get("salts", {}))
    entry["salts"]["ip"] = hashlib.sha256(bytes.fromhex(entry["salts"]["ip"]) + entry["ip"].encode()).hexdigest()
    entry["ip"] = "203.0.113.7"
    return json.dumps(entries).encode()


def alterations(bundle: bytes, other: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield alterations by somebody who can compute digests, write ZIP files, and has bundles of other requests."""
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
    yield "a value of the journal", made_anew(bundle, {asic.JOURNAL: with_another_value(mine[asic.JOURNAL])})
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
        yield f"a byte of {name}", zipped(members)
    yield "another order", zipped([*reversed(list(mine.items())[1:-4]), *list(mine.items())[-4:]])


def test_what_is_altered_is_seen(world: World) -> None:
    """One alteration of each kind is tried here; all of them take longer."""
    mine, theirs = parts_of(world.bundle), parts_of(world.other)
    assert checked(world.bundle).ok
    for changed, told in (
        ({asic.JOURNAL: theirs[asic.JOURNAL]}, "journal.json is not the journal of the proof"),
        ({asic.JOURNAL: with_another_value(mine[asic.JOURNAL])}, "journal.json is not the journal of the proof"),
        ({SIGNED: flipped(mine[SIGNED], len(mine[SIGNED]) // 2)}, SIGNED),
        ({asic.README: mine[asic.README] + b"\n"}, "timestamp is one of something else"),
    ):
        found = checked(made_anew(world.bundle, changed))
        assert not found.ok and any(told in each for each in found.problems), found.problems


@pytest.mark.thorough
def test_every_alteration_is_seen(world: World) -> None:
    assert made_anew(world.bundle, {}) == world.bundle
    assert checked(world.bundle).ok and checked(world.other).ok
    tried = dict(alterations(*world))
    assert len(tried) >= 20
    told = {what: checked(altered) for what, altered in tried.items()}
    assert [what for what, found in told.items() if found.ok] == []
    assert [what for what, found in told.items() if not found.problems] == []


def test_a_byte_anywhere_is_seen(world: World) -> None:
    """Bytes at sixty places in the archive are changed, without correcting the digests."""
    step = len(world.bundle) // 60
    for place in range(0, len(world.bundle), step):
        assert not checked(flipped(world.bundle, place)).ok, place


def test_a_bundle_of_strangers_is_not_said_to_be_altered(world: World) -> None:
    found = check_bundle(world.bundle, [])
    assert (found.verdict.indication, found.verdict.word) == ("INDETERMINATE", "unknown")


def _by_zipfile(bundle: bytes, add: Callable[[zipfile.ZipFile], None], **change: object) -> bytes:
    """Return the same files in the form of a bundle, with ``change`` made to each member; ``add`` adds to the end."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts_of(bundle).items():
            _write(archive, name, content, **change)
        add(archive)
    return file.getvalue()


def _write(archive: zipfile.ZipFile, name: str, content: bytes, **change: object) -> None:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
    for attribute, value in change.items():
        setattr(info, attribute, value)
    archive.writestr(info, content)


def _with(**change: object) -> Callable[[bytes], bytes]:
    """Add to a bundle one file that is stored in another way than the files of a bundle."""
    return lambda bundle: _by_zipfile(bundle, lambda archive: _write(archive, _ADDED, bytes(1 << 20), **change))


def _all_with(**change: object) -> Callable[[bytes], bytes]:
    return lambda bundle: _by_zipfile(bundle, lambda _: None, **change)


def _named(*names: str) -> Callable[[bytes], bytes]:
    """Add files with these names before the upload of a bundle."""

    def made(bundle: bytes) -> bytes:
        members = list(parts_of(bundle).items())
        place = [name for name, _ in members].index(UPLOADED)
        return zipped([*members[:place], *((name, b"%PDF-1.7") for name in names), *members[place:]])

    return made


def _renamed(name: str, other: str) -> Callable[[bytes], bytes]:
    """Add a file to a bundle and replace its name by one of the same length that a ZIP library would not write."""
    return lambda bundle: _named(name)(bundle).replace(name.encode(), other.encode())


def _long_name(_: bytes) -> bytes:
    """Return a ZIP with a name not marked as UTF-8, which is too long for a ZIP once it is encoded in UTF-8."""
    whole = zipped([("\u00e9" * 32_000, b"")])
    entry = whole.index(b"PK\1\2")
    return whole[:6] + b"\0\0" + whole[8 : entry + 8] + b"\0\0" + whole[entry + 10 :]


def _zip64(bundle: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts_of(bundle).items():
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry:
                entry.write(content)
    return file.getvalue()


def _zip64_directory(bundle: bytes) -> bytes:
    """Make the end record defer to a ZIP64 end record, which other programs follow."""
    end = bundle.rindex(b"PK\5\6")
    count, size, start = struct.unpack_from("<HLL", bundle, end + 10)
    numbers = struct.pack("<LQ2H2L4Q", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<2LQL", 0x07064B50, 0, end, 1)
    return (
        bundle[:end] + numbers + locator + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    )


def _commented(archive: zipfile.ZipFile) -> None:
    archive.comment = b"%PDF-1.7"


def _directory_renames(bundle: bytes) -> bytes:
    """Give a file another name in the directory, which most programs follow, than before its content."""
    end = bundle.rindex(b"PK\5\6")
    [start] = struct.unpack_from("<L", bundle, end + 16)
    return bundle[:start] + bundle[start:].replace(UPLOADED.encode(), b"uploaded/contract-2.pdf")


def _directory_hides(bundle: bytes) -> bytes:
    """Leave the last file out of the directory."""
    end = bundle.rindex(b"PK\5\6")
    [start] = struct.unpack_from("<L", bundle, end + 16)
    entry, count = bundle.rindex(b"PK\1\2"), struct.unpack_from("<H", bundle, end + 8)[0] - 1
    return bundle[:entry] + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, entry - start, start, 0)


NAMES, OTHERWISE, NO_ZIP = "the names of those in a bundle", "It was altered, or is packed", "It is no ZIP file"
HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a path upwards": (_named("../../etc/cron.d/x"), NAMES),
    "a path upwards in a folder": (_named("uploaded/../x.pdf"), NAMES),
    "an absolute path": (_named("/etc/passwd"), NAMES),
    "a drive": (_named("C:\\x.pdf"), NAMES),
    "a hidden file": (_named("uploaded/.profile.pdf"), NAMES),
    "an escape": (_named("uploaded/\x1b[2J.pdf"), NAMES),
    "two names in one": (_named("uploaded/a.pdf\nuploaded/b.pdf"), NAMES),
    "two names in one, parted as the reader parts them": (
        _renamed("uploaded/a.pdf+uploaded/b.pdf", "uploaded/a.pdf\0uploaded/b.pdf"),
        OTHERWISE,
    ),
    "a name that is too long": (_long_name, NO_ZIP),
    "an archive within": (_named("uploaded/inner.zip"), NAMES),
    "a folder": (_named("uploaded/"), NAMES),
    "a file of no bundle": (_named("READMEXhtml"), NAMES),
    "one name twice": (_renamed("uploaded/contract-2.pdf", UPLOADED), "Two files in it have one name"),
    "one name in two spellings": (_named("uploaded/CONTRACT-1.pdf"), "Two files in it have one name"),
    "a link": (_with(external_attr=(stat.S_IFLNK | 0o777) << 16), OTHERWISE),
    "a bomb": (_with(compress_type=zipfile.ZIP_DEFLATED), OTHERWISE),
    "another way of packing": (_with(compress_type=zipfile.ZIP_LZMA), OTHERWISE),
    "a further field": (_with(extra=b"\x75\x70\0\0"), OTHERWISE),
    "a note beside a file": (_with(comment=b"%PDF-1.7"), OTHERWISE),
    "a file that may be run": (_with(external_attr=(stat.S_IFREG | 0o755) << 16), OTHERWISE),
    "the time of a file": (_with(date_time=(2026, 1, 1, 0, 0, 0)), OTHERWISE),
    "the time of all files": (_all_with(date_time=(2026, 1, 1, 0, 0, 0)), OTHERWISE),
    "ZIP64": (_zip64, OTHERWISE),
    "a ZIP64 directory": (_zip64_directory, OTHERWISE),
    "a comment": (lambda bundle: _by_zipfile(bundle, _commented), OTHERWISE),
    "bytes behind": (lambda bundle: bundle + b"%PDF-1.7", OTHERWISE),
    "bytes before": (lambda bundle: b"%PDF-1.7\n" + bundle, OTHERWISE),
    "bytes between": (lambda bundle: bundle.replace(b"PK\1\2", b"%PDF-1.7PK\1\2", 1), OTHERWISE),
    "another archive behind": (lambda bundle: bundle + bundle, OTHERWISE),
    "encrypted": (lambda bundle: bundle[:6] + b"\1" + bundle[7:], OTHERWISE),
    "another size": (lambda bundle: bundle[:22] + b"\xff\xff\xff\xff" + bundle[26:], OTHERWISE),
    "sizes beyond the end": (lambda bundle: bundle[:18] + b"\xff" * 8 + bundle[26:], OTHERWISE),
    "cut off": (lambda bundle: bundle[:-30], NO_ZIP),
    "a directory with other names": (_directory_renames, OTHERWISE),
    "a directory with fewer files": (_directory_hides, OTHERWISE),
    "no files": (lambda _: zipped([]), NAMES),
    "no directory": (lambda _: b"PK\3\4", NO_ZIP),
    "too many files": (
        lambda _: zipped([(f"uploaded/{number}.pdf", b"") for number in range(MOST_MEMBERS + 1)]),
        "more than",
    ),
    "another type": (
        lambda bundle: zipped([*{**parts_of(bundle), "mimetype": b"application/epub+zip"}.items()]),
        "the type of a bundle",
    ),
}


def test_what_is_tried_is_refused_for_what_it_names_alone(world: World) -> None:
    """The helpers that make the hostile archives reproduce a bundle where nothing is changed."""
    assert _by_zipfile(world.bundle, lambda _: None) == world.bundle == zipped([*parts_of(world.bundle).items()])


def test_hostile_archives_are_refused_with_a_sentence(world: World) -> None:
    for what, (made, sentence) in HOSTILE.items():
        found = checked(made(world.bundle))
        assert not found.ok and not found.sealed, what
        [problem] = found.problems
        assert problem.startswith("This is no bundle of evidence as it was made: ") and sentence in problem, (
            what,
            problem,
        )


def _small() -> bytes:
    return zipped([("mimetype", b"a"), ("signed/\u00e4.pdf", b"bcd"), ("empty", b"")])


def test_no_other_bytes_are_read_than_those_that_are_written() -> None:
    """Every bit of a small file is flipped, it is cut at every length, and bytes are inserted at every place."""
    whole = _small()
    assert [member.name for member in read_members(io.BytesIO(whole))] == ["mimetype", "signed/\u00e4.pdf", "empty"]
    bits = ((place, 1 << bit) for place in range(len(whole)) for bit in range(8))
    tried = [flipped(whole, place, bit) for place, bit in bits]
    tried += [whole[:length] for length in range(len(whole))]
    tried += [whole[:place] + added + whole[place:] for place in range(len(whole) + 1) for added in (b"\0", b"PK\5\6")]
    for altered in tried:
        if altered != whole:
            with pytest.raises(ZipRefused):
                read_members(io.BytesIO(altered))


def test_the_form_is_the_same_for_decades() -> None:
    """The standard library writes bundles: a version that wrote them differently would refuse all earlier bundles."""
    assert hashlib.sha256(_small()).hexdigest() == "f700b5407955a8642dbb8270c9052bbc66c0c380835ff9b71f79351cf5fcc018"


def test_a_part_that_takes_too_much_is_not_read(world: World) -> None:
    for name, told in ((asic.JOURNAL, "is not the journal"), (asic.TIMESTAMPS, "neither JSON of paraph nor a token")):
        found = checked(made_anew(world.bundle, {name: b"[" * (33 << 20)}))
        assert not found.ok and any(told in each for each in found.problems), found.problems


def test_what_is_too_large_is_neither_written_nor_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (zipfile, asic):
        monkeypatch.setattr(module, "ZIP64_LIMIT", len(world.bundle) - 1)
    with pytest.raises(zipfile.LargeZipFile):
        made_anew(world.bundle, {_ADDED: world.bundle[: len(world.bundle) // 2], "b": b""})
    with pytest.raises(ZipRefused, match="It is larger than"):
        read_members(io.BytesIO(world.bundle))


def restamped(bundle: bytes, changed: Mapping[str, bytes]) -> bytes:
    """Return the bundle changed and stamped again by the same authority, which stamps anything."""

    def timestamp(manifest: bytes) -> tuple[bytes, Sequence[bytes]]:
        stamp, failures = stamp_time(tokens.sha256(manifest), sealing_context().timestamping)
        assert stamp, failures
        return stamp.token, stamp.chain

    return made_anew(bundle, {**changed, asic.TIMESTAMP: None}, timestamp)


def test_files_by_each_others_names_are_seen() -> None:
    bundle = bundle_of(finished(documents=2))
    parts = parts_of(bundle)
    [one, two], [first, second] = ([name for name in parts if name.startswith(each)] for each in ("signed", "uploaded"))
    assert checked(restamped(bundle, {})).ok
    for changed in (
        {one: parts[two], two: parts[one]},
        {first: parts[second], second: parts[first]},
        {one: parts[first], first: parts[one]},
        {first: parts[one]},
    ):
        found = checked(restamped(bundle, changed))
        assert found.verdict.indication == "TOTAL-FAILED", changed.keys()
        assert "The files in the bundle do not have the names that the documents" in found.problems[-1]


def test_what_nobody_vouches_for_is_told() -> None:
    """The timestamp of a bundle says since when its page and roots exist, but nothing says who wrote them."""
    found = checked(restamped(bundle_of(finished()), {asic.README: b"<h1>All is well</h1>", asic.ROOTS: b""}))
    told = "Nothing else is known of README.html, certificates.pem, roots.pem and revocation/."
    assert [told in each for each in found.matches if "as they were on" in each] == [True]
