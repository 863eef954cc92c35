"""Checking the whole store at a bounded rate, copying it, encrypting it; each can be stopped and continued later."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, Self

from django.conf import settings

from paraph.documents import objects_to_delete
from paraph.evidence.named_objects import (
    PREFIXES,
    TABLES,
    NamedObject,
    is_still_named,
    named_among,
    named_objects,
    rows_after,
)
from paraph.kernel import clock
from paraph.storage import store
from paraph.storage.objects import Store
from paraph.transparency import log

Problem = dict[str, Any]
"""``problem`` (``missing``, ``changed`` or ``unreadable``), ``key``, ``row`` and, if it is unreadable, ``cause``."""

Act = Callable[[list[NamedObject]], None]

_BLOCK = 1 << 20
_SAVE_SECONDS = 2.0
_LISTED = 10_000
_YOUNG = timedelta(hours=1)
"""An object may lack a row for so long: objects are written minutes, at most, before the rows that name them."""
_AT_ONCE = 500


def problem_with(
    named: NamedObject, take: Callable[[bytes], object], opened: Callable[[str], BinaryIO] = store.open
) -> Problem | None:
    """Read the object in blocks and pass each to ``take``. Return None if size and SHA-256 are those of the row."""
    digest, size = hashlib.sha256(), 0
    try:
        with opened(named.key) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
                take(block)
    except FileNotFoundError:
        return _problem("missing", named)
    except OSError as error:
        return {**_problem("unreadable", named), "cause": error.strerror or str(error)}
    same = size == named.size and digest.digest() == named.sha256
    return None if same else _problem("changed", named)


def _problem(problem: str, named: NamedObject) -> Problem:
    return {"problem": problem, "key": named.key, "row": f"{named.row[0]} {named.row[1]}"}


@dataclass
class Progress:
    """``stage`` counts the tables and folders that are done; ``after`` is the last id done in the current table.
    ``found`` counts all ``problems``, of which 10,000 are listed; ``changed`` the objects copied or encrypted."""

    path: Path
    began: str = field(default_factory=lambda: clock.now().isoformat())
    stage: int = 0
    after: int = 0
    objects: int = 0
    bytes: int = 0
    found: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    changed: int = 0

    def __post_init__(self) -> None:
        self._saved = time.monotonic()
        self._known: set[str] = set()

    @classmethod
    def resumed(cls, path: Path) -> Self:
        """Return the progress that the file holds; without a file, a new one."""
        progress = cls(path)
        if path.exists():
            for name, value in json.loads(path.read_text()).items():
                setattr(progress, name, value)
            progress._known = {problem["key"] for problem in progress.problems}
        return progress

    def report(self, problem: dict[str, Any]) -> None:
        """Note a problem once, also where its row or folder is looked at again after a stop."""
        if problem["key"] in self._known:
            return
        self._known.add(problem["key"])
        self.found += 1
        if len(self.problems) < _LISTED:
            self.problems.append(problem)

    def next_stage(self) -> None:
        self.stage, self.after = self.stage + 1, 0
        self.save()

    def save(self) -> None:
        """Replace the file as a whole."""
        facts = asdict(self)
        del facts["path"]
        draft = self.path.with_name(f".{self.path.name}.part")
        draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # on an operator's machine nothing else has made it
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(facts, file)
        draft.replace(self.path)
        self._saved = time.monotonic()

    def save_now_and_then(self) -> None:
        if time.monotonic() - self._saved > _SAVE_SECONDS:
            self.save()


def through_tables(progress: Progress, seconds: float, act: Act, rows: int, *more: Callable[[], None]) -> bool:
    """Call ``act`` with all objects that rows name, those of ``rows`` rows at a time, and then each of ``more``.
    Continue where the last run was stopped, by a signal or after ``seconds``. Return whether everything is done."""
    end = time.monotonic() + seconds
    try:
        while progress.stage < len(TABLES):
            if not _through_table(progress, end, act, rows):
                return False
            progress.next_stage()
        for stage in more[progress.stage - len(TABLES) :]:
            stage()
            progress.next_stage()
    finally:
        progress.save()
    progress.path.unlink()
    return True


def _through_table(progress: Progress, end: float, act: Act, rows: int) -> bool:
    by_row = groupby(named_objects(TABLES[progress.stage], progress.after), lambda named: named.row)
    batches = iter(lambda: [list(objects) for _, objects in islice(by_row, rows)], [])  # a row may name several objects
    for number, batch in enumerate(batches):
        if number and time.monotonic() > end:  # each run does at least one batch
            return False
        act(list(chain.from_iterable(batch)))
        progress.after = batch[-1][0].row[1]
        progress.save_now_and_then()
    return True


def verify_store(progress_file: Path, rate: float, seconds: float = float("inf")) -> dict[str, Any]:
    """Read every object that a row names, at most ``rate`` bytes a second, and look for objects that no row names.
    Continue where the last check was stopped, by a signal or after ``seconds``. Return ``finished``, counts and
    ``problems``: objects that are ``missing``, ``changed``, ``unreadable`` or ``unnamed``."""
    progress, pace = Progress.resumed(progress_file), _Pace(rate)

    def check(row: list[NamedObject]) -> None:
        for named in row:
            problem = problem_with(named, pace.take)
            progress.objects += 1
            progress.bytes += named.size
            if problem and is_still_named(named):
                progress.report(problem)

    folders = (partial(_report_unnamed, prefix, progress) for prefix in PREFIXES)
    return {
        "finished": through_tables(progress, seconds, check, 1, *folders),
        "began_at": progress.began,
        **{name: getattr(progress, name) for name in ("objects", "bytes", "found", "problems")},
    }


def problems_with_named_objects() -> list[Problem]:
    """Read every object that a row names, as fast as possible; return those with problems."""
    found = (problem_with(named, len) for word in TABLES for named in named_objects(word))
    return [problem for problem in found if problem]


class _Pace:
    """Wait so that no more than ``rate`` bytes a second are read."""

    def __init__(self, rate: float) -> None:
        self._rate, self._began, self._bytes = rate, time.monotonic(), 0

    def take(self, block: bytes) -> None:
        self._bytes += len(block)
        ahead = self._bytes / self._rate - (time.monotonic() - self._began)
        if ahead > 0:
            time.sleep(ahead)


def _report_unnamed(prefix: str, progress: Progress) -> None:
    """Report objects without a row. The folder is listed to its end: no store promises an order to continue in."""
    keys = store.keys_written_before(prefix, datetime.fromisoformat(progress.began) - _YOUNG)
    while chosen := list(islice(keys, _AT_ONCE)):
        known = named_among(prefix, chosen) | objects_to_delete.noted_among(chosen)
        for key in chosen:
            if key not in known:
                progress.report({"problem": "unnamed", "key": key, "row": None})


_PROVIDERS = ("AWS_", "AZURE_", "GOOGLE_")  # how the names of their variables begin
_ROWS = 1000  # so many share a folder of the store
_SIDE_BY_SIDE = 16  # each waits for the network most of the time


def copy_store(source: Store, target: Store, progress_file: Path, seconds: float = float("inf")) -> dict[str, Any]:
    """Copy every object that a row names as it is, encrypted or not, unless the target has it with the same length;
    read each copy back, and compare it with its row. Continue where the last run was stopped, by a signal or after
    ``seconds``. Return ``finished``; counts, among them how many rows ``remain``; and ``problems``: objects that are
    ``missing`` in the source, or ``changed`` or ``unreadable`` once they were copied."""
    progress = Progress.resumed(progress_file)
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:

        def copy(batch: list[NamedObject]) -> None:
            folders = {named.key.rpartition("/")[0] for named in batch}
            here, there = _sizes(source, folders), _sizes(target, folders)
            lacking = [named for named in batch if there.get(named.key, -1) != here.get(named.key)]
            for named, problem in zip(lacking, pool.map(lambda one: _copy(one, source, target), lacking), strict=True):
                if problem and is_still_named(named):
                    progress.report(problem)
                progress.changed += not problem
            progress.objects += len(batch)

        finished = through_tables(progress, seconds, copy, _ROWS)
    ahead = zip(TABLES[progress.stage :], (progress.after, *[0] * len(TABLES)), strict=False)
    return {
        "finished": finished,
        "objects": progress.objects,
        "copied": progress.changed,
        "remain": sum(rows_after(word, after) for word, after in ahead),
        "problems": progress.problems,
    }


def opened(url: str, prefix: str = "") -> Store:
    """Return the store at the URL, or that of the data folder if the URL is ``folder``. If there are variables of a
    provider with the prefix, the store takes its credentials and endpoint from them alone."""
    kept = dict(os.environ)
    with_prefix = tuple(f"{prefix}{provider}" for provider in _PROVIDERS if prefix)
    given = {name.removeprefix(prefix): value for name, value in kept.items() if name.startswith(with_prefix)}
    try:
        for name in [name for name in kept if given and name.startswith(_PROVIDERS)]:
            del os.environ[name]
        os.environ.update(given)
        return store.plain_store("" if url == "folder" else url, settings.DATA_DIR)
    finally:
        for name in given:
            del os.environ[name]
        os.environ.update(kept)


def _sizes(kept: Store, folders: set[str]) -> dict[str, int]:
    with store.describing_faults():
        return {key: size for folder in folders for key, size, _ in kept.listing(f"{folder}/", "")}


def _copy(named: NamedObject, source: Store, target: Store) -> Problem | None:
    try:
        with store.describing_faults(reading=True):
            with source.open(named.key) as file, target.stage() as staged:
                copyfileobj(file, staged.file, _BLOCK)
                staged.keep(named.key)
            return problem_with(named, len, store.decrypting(target).open)
    except FileNotFoundError:
        return _problem("missing", named)
    except OSError as error:
        return {**_problem("unreadable", named), "cause": error.strerror or str(error)}


_ENCRYPTED_AT_ONCE = 20  # rows, whose objects nobody deletes meanwhile
_PICTURES, _LOG = "pages/", "transparency/"


def encrypt_store(progress_file: Path, seconds: float = float("inf")) -> dict[str, Any]:
    """Encrypt every object that a row names, and the transparency log, with the current storage key; delete pictures
    and texts of pages that are not encrypted with it, which are made again. If an earlier key opens an object, only its
    header is replaced. Continue where the last run was stopped, by a signal or after ``seconds``. Return ``finished``,
    counts and ``problems``: missing or unreadable objects. Raise ``DomainError("configuration", …)`` without a key."""
    store.encrypting()
    progress = Progress.resumed(progress_file)

    def encrypt(batch: list[NamedObject]) -> None:
        with objects_to_delete.kept():  # else one that is deleted meanwhile would be written again
            for named in batch:
                _encrypt(named, progress)

    finished = through_tables(progress, seconds, encrypt, _ENCRYPTED_AT_ONCE)
    if finished:
        for key in store.keys_written_before(_PICTURES, clock.now()):
            if not store.encrypting().is_current(key):
                store.delete(key)
    return {
        "finished": finished and _encrypt_log(),
        "objects": progress.objects,
        "encrypted": progress.changed,
        "problems": progress.problems,
    }


def _encrypt_log() -> bool:
    """Encrypt the transparency log. Return False while it is being appended to, because its older state could be
    written over the newer one."""
    with log.alone() as mine:
        for key in store.keys_written_before(_LOG, clock.now()) if mine else ():
            if not store.encrypting().is_current(key):
                store.encrypting().encrypt_anew(key)
        return mine


def _encrypt(named: NamedObject, progress: Progress) -> None:
    if not is_still_named(named):
        return
    progress.objects += 1
    try:
        if not store.encrypting().is_current(named.key):
            store.encrypting().encrypt_anew(named.key)
            progress.changed += 1
    except FileNotFoundError:
        progress.report(_problem("missing", named))
    except OSError as error:
        progress.report({**_problem("unreadable", named), "cause": error.strerror or str(error)})
