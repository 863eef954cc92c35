"""The filter of system calls, run here as the kernel runs it, for both architectures, whatever machine this is; and
what operators are told of the processes that read PDFs."""

import os

import pytest

from paraph.confinement import Confinement
from paraph.confinement.seccomp import ARCHITECTURES, CHECKED, HARMLESS, HOSTILE, MISSING, READING_FOLDERS, program

ALLOWED, REFUSED, ENDED = 0x7FFF0000, 0x00050001, 0x80000000
LACKING = 0x00050026  # ENOSYS: libraries go on with one thread
MACHINES = sorted(ARCHITECTURES)


def judge(machine: str, number: int, *arguments: int, architecture: int | None = None, opening: bool = True) -> int:
    """The verdict on a call, by classic BPF."""
    code, column = ARCHITECTURES[machine]
    data = {0: number, 4: code if architecture is None else architecture}
    data |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate([*arguments, *[0] * 6][:6])}
    instructions = list(program(code, column, opening))
    place, loaded = 0, 0
    while True:
        operation, if_so, if_not, operand = instructions[place]
        place += 1
        if operation == 0x06:
            return operand
        if operation == 0x20:
            loaded = data[operand]
            continue
        holds = loaded == operand if operation == 0x15 else bool(loaded & operand)
        place += if_so if holds else if_not


def number(machine: str, name: str) -> int:
    found = {**HARMLESS, **HOSTILE, **CHECKED}[name][ARCHITECTURES[machine][1]]
    assert found is not None
    return found


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_are_told_apart(machine: str) -> None:
    column = ARCHITECTURES[machine][1]
    harmless = {numbers[column] for numbers in HARMLESS.values()} - {None}
    hostile = {numbers[column] for numbers in HOSTILE.values()} - {None}
    judged = {numbers[column] for numbers in CHECKED.values()} - {None}
    missing = {numbers[column] for numbers in MISSING.values()}
    folders = READING_FOLDERS["getdents64"][column]
    assert not harmless & hostile and not judged & (harmless | hostile)
    for call in range(600):
        verdict = judge(machine, call)
        if call in harmless or call == folders:
            assert verdict == ALLOWED
        elif call in missing:
            assert verdict == LACKING
        elif call not in judged:
            assert verdict == (ENDED if call in hostile else REFUSED)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_of_another_architecture_ends_the_process(machine: str) -> None:
    assert judge(machine, number(machine, "read"), architecture=0x40000003) == ENDED  # 32 bits
    if machine == "x86_64":
        assert judge(machine, 0x40000000 | number(machine, "read")) == REFUSED  # x32


_WRITING = (os.O_WRONLY, os.O_RDWR, 3, os.O_CREAT, os.O_TRUNC, os.O_APPEND, getattr(os, "O_TMPFILE", 0o20000000))
VERDICTS: list[tuple[int, str, tuple[int, ...]]] = [
    (ALLOWED, "openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)),
    *((REFUSED, "openat", (0, 0, flags)) for flags in _WRITING),
    (ALLOWED, "tgkill", (os.getpid(), 1, 6)),
    (REFUSED, "tgkill", (os.getppid(), 1, 6)),
    (ALLOWED, "prlimit64", (0, 0)),
    (REFUSED, "prlimit64", (os.getppid(), 0)),
    (ALLOWED, "fcntl", (3, 1030)),  # copies a descriptor
    *((REFUSED, "fcntl", (3, set_owner)) for set_owner in (8, 10, 15)),  # would signal; F_SETSIG and F_SETOWN_EX too
]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_process_reads_files_and_does_to_itself_what_it_may_not_do_to_others(machine: str) -> None:
    for verdict, call, arguments in VERDICTS:
        assert judge(machine, number(machine, call), *arguments) == verdict, (call, arguments)
    assert judge(machine, number(machine, "openat"), 0, 0, os.O_RDONLY, opening=False) == REFUSED


@pytest.mark.parametrize(
    ("missing", "holds", "sentence"),
    [
        ({}, True, "PDFs are read in processes without network, files or programs: namespaces, Landlock, seccomp."),
        (
            {"namespaces": "Operation not permitted"},
            True,
            "PDFs are read in processes without network, files or programs: Landlock, seccomp. "
            "Not to be had here: namespaces (Operation not permitted).",
        ),
        (
            {"namespaces": "a", "Landlock": "b"},
            True,
            "PDFs are read in processes without network, files or programs: seccomp. "
            "Not to be had here: namespaces (a); Landlock (b). "
            "So the fonts of this machine cannot be used: letters whose font is not in the file are not shown.",
        ),
        (
            {"seccomp": "no filter is written for riscv64"},
            False,
            "PDFs are read in processes that are confined in part: namespaces, Landlock. "
            "Not to be had here: seccomp (no filter is written for riscv64).",
        ),
        (
            {"namespaces": "a", "Landlock": "b", "seccomp": "c"},
            False,
            "PDFs are read in processes that only limits of time and memory confine. "
            "Not to be had here: namespaces (a); Landlock (b); seccomp (c).",
        ),
    ],
)
def test_what_is_on_and_what_is_missing(missing: dict[str, str], holds: bool, sentence: str) -> None:
    found = Confinement(missing)
    assert (found.holds, found.complete, found.sentence) == (holds, not missing, sentence)
