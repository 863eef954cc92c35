"""What operators are told of the processes that read PDFs."""

import pytest

from paraph.confinement import Confinement


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
