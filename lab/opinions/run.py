"""``make opinions``: ask programs about sealed and altered files, and write their verdicts between the marks in
docs/second-opinions.md."""

import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from asn1crypto.pem import armor

from lab.opinions.alterations import ALTERATIONS, NotHere
from lab.opinions.files import FILES, authority, sealed
from lab.opinions.validators import VALIDATORS, Opinion

PAGE = Path(__file__).parents[2] / "docs" / "second-opinions.md"
_TOLD = "B-LTA"
"""The file for which every verdict is printed in the program's own words."""
GENUINE = "as it was sealed"
ROWS = (GENUINE, *ALTERATIONS)


class Asked(NamedTuple):
    file: str
    row: str
    validator: str
    opinion: Opinion


def main() -> None:
    here = [name for name, each in VALIDATORS.items() if shutil.which(each.version_by[0])]
    for missing in sorted(VALIDATORS.keys() - set(here)):
        print(f"{missing} is not installed, so that the page says nothing new of it.")
    answers = list(opinions(here))
    page = _between(PAGE.read_text(), "all", _overview(answers))
    for name in here:
        page = _between(page, name, _in_its_words(name, [each for each in answers if each.validator == name]))
    PAGE.write_text(page)
    found = list(worse(answers))
    print(*found, f"{len(answers)} verdicts are in {PAGE.name}, {len(found)} of them worse than they were.", sep="\n")
    sys.exit(1 if found else 0)


def _between(page: str, mark: str, lines: Iterator[str]) -> str:
    begin, end = f"<!-- make opinions: {mark} -->\n", f"<!-- end of {mark} -->"
    written, count = re.subn(f"(?<={begin}).*?(?={end})", lambda _: "\n".join([*lines, ""]), page, flags=re.DOTALL)
    assert count == 1, mark
    return written


def _overview(answers: Sequence[Asked]) -> Iterator[str]:
    names = list(dict.fromkeys(each.validator for each in answers))
    yield f"| | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for row in ROWS:
        said = [[each.opinion.holds for each in answers if each[1:3] == (row, name)] for name in names]
        cells = ["sound" if all(one) else f"sound: {sum(one)} of {len(one)}" if any(one) else "**no**" for one in said]
        yield f"| {row} | {' | '.join(cells)} |"


def _in_its_words(name: str, answers: Sequence[Asked]) -> Iterator[str]:
    """Yield a table of every verdict on a sealed file, and of those on the alterations of one file."""
    files = defaultdict(list)
    for each in answers:
        if each.row == GENUINE:
            files[each.opinion.words].append(each.file)
        elif each.file == _TOLD:
            files[each.opinion.words].append(f"{each.file}, {each.row}")
    yield f"| File | {name} {VALIDATORS[name].version} says |"
    yield "|---|---|"
    for words, said_of in files.items():
        yield f"| {'; '.join(said_of)} | `{words.replace('|', '/').replace('`', chr(39))}` |"


def opinions(
    validators: Iterable[str], files: Sequence[str] = tuple(FILES), rows: Iterable[str] = ROWS
) -> Iterator[Asked]:
    """Ask about each file as it was sealed, and as it is after each alteration that can be made to it."""
    for name in files:  # in one thread, so that the others find the results in the cache
        sealed(name)
        authority(FILES[name].kind, "stranger")
    with ThreadPoolExecutor(2) as threads:
        for asked in threads.map(partial(_ask, list(validators)), *zip(*product(files, rows), strict=True)):
            yield from asked


def _ask(validators: Iterable[str], name: str, row: str) -> list[Asked]:
    try:
        content = sealed(name) if row == GENUINE else ALTERATIONS[row](name)
    except NotHere:
        return []
    with TemporaryDirectory(prefix="paraph-opinions-") as folder:
        pdf, root = Path(folder, "file.pdf"), Path(folder, "root.pem")
        pdf.write_bytes(content)
        root.write_bytes(armor("CERTIFICATE", authority(FILES[name].kind).root))
        return [Asked(name, row, each, VALIDATORS[each].ask(pdf, root)) for each in validators]


def worse(answers: Iterable[Asked]) -> Iterator[str]:
    """Yield a line for each unexpected verdict on a sound file, and for each alteration that a program overlooks."""
    for file, row, name, opinion in answers:
        if row == GENUINE and opinion.holds == (file in VALIDATORS[name].refuses):
            yield f"{name} says of {file} as it was sealed: {opinion.words}"
        if row in VALIDATORS[name].sees and opinion.holds:
            yield f"{name} does not see {row} in {file}: {opinion.words}"


if __name__ == "__main__":
    main()
