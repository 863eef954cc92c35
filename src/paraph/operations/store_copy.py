"""Copying all objects into another store, while the service works on the one or the other."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from django.conf import settings

from paraph.evidence.named_objects import TABLES, NamedObject, is_still_named, rows_after
from paraph.operations.store_check import Problem, Progress, problem_with, through_tables
from paraph.storage import store
from paraph.storage.objects import Store

_BLOCK = 1 << 20
_PROVIDERS = ("AWS_", "AZURE_", "GOOGLE_")  # how the names of their variables begin
_ROWS = 1000  # which share a folder of the store
_SIDE_BY_SIDE = 16  # each waits for the network most of the time


@dataclass
class _Copied(Progress):
    """``copied`` counts the objects that were not there already."""

    copied: int = 0


def copy_store(source: Store, target: Store, progress_file: Path, seconds: float = float("inf")) -> dict[str, Any]:
    """Copy every object that a row names as it is, encrypted or not, unless one of its length is there; read each copy
    back, and compare it with its row.

    Goes on where it was stopped, by a signal or after ``seconds``. Return ``finished``, counts, among them how many
    rows ``remain``, and ``problems``: objects that are ``missing`` in the source, or ``changed`` or ``unreadable`` once
    they were copied.
    """
    progress = _Copied.resumed(progress_file)
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:

        def copy(batch: list[NamedObject]) -> None:
            folders = {named.key.rpartition("/")[0] for named in batch}
            here, there = _sizes(source, folders), _sizes(target, folders)
            lacking = [named for named in batch if there.get(named.key, -1) != here.get(named.key)]
            for named, problem in zip(lacking, pool.map(lambda one: _copy(one, source, target), lacking), strict=True):
                if problem and is_still_named(named):
                    progress.report(problem)
                progress.copied += not problem
            progress.objects += len(batch)

        finished = through_tables(progress, seconds, copy, _ROWS)
    ahead = zip(TABLES[progress.stage :], (progress.after, *[0] * len(TABLES)), strict=False)
    return {
        "finished": finished,
        "objects": progress.objects,
        "copied": progress.copied,
        "remain": sum(rows_after(word, after) for word, after in ahead),
        "problems": progress.problems,
    }


def opened(url: str, prefix: str = "") -> Store:
    """Return the store at the URL, or that of the data folder where it is ``folder``. Where variables of a provider
    have the prefix, they are its only credentials and endpoint."""
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
    with store.telling_faults():
        return {key: size for folder in folders for key, size, _ in kept.listing(f"{folder}/", "")}


def _copy(named: NamedObject, source: Store, target: Store) -> Problem | None:
    try:
        with store.telling_faults(reading=True):
            with source.open(named.key) as file, target.stage() as staged:
                copyfileobj(file, staged.file, _BLOCK)
                staged.keep(named.key)
            return problem_with(named, len, store.decrypting(target).open)
    except FileNotFoundError:
        return {"problem": "missing", "key": named.key}
    except OSError as error:
        return {"problem": "unreadable", "key": named.key, "cause": error.strerror or str(error)}
