"""Bundles packed anew by somebody with timestamps of the same authority, which gives one for anything."""

import io
from collections.abc import Mapping, Sequence

import pytest

from paraph.flow.sealing.context import sealing_context
from paraph.kernel import tokens
from paraph.pdf import asic
from paraph.pdf.asic import ZipWriter
from paraph.pdf.timestamps.timestamp import stamp_time
from tests.bundle.bundles import MADE_LAST, bundle_of, finished, parts_of
from tests.bundle.test_altered import checked

pytestmark = pytest.mark.django_db


def restamped(parts: Mapping[str, bytes], changed: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with ZipWriter(file) as writer:
        asic.begin(writer)
        for name, content in {**parts, **changed}.items():
            if name not in MADE_LAST:
                writer.add(name, [content])
        asic.end(writer, _timestamp)
    return file.getvalue()


def _timestamp(manifest: bytes) -> tuple[bytes, Sequence[bytes]]:
    stamp, failures = stamp_time(tokens.sha256(manifest), sealing_context().timestamping)
    assert stamp, failures
    return stamp.token, stamp.chain


def test_files_by_each_others_names_are_seen() -> None:
    parts = parts_of(bundle_of(finished(documents=2)))
    [one, two], [first, second] = ([name for name in parts if name.startswith(each)] for each in ("signed", "uploaded"))
    assert checked(restamped(parts, {})).ok
    for changed in (
        {one: parts[two], two: parts[one]},
        {first: parts[second], second: parts[first]},
        {one: parts[first], first: parts[one]},
        {first: parts[one]},
    ):
        found = checked(restamped(parts, changed))
        assert found.verdict.indication == "TOTAL-FAILED", changed.keys()
        assert "The files in the bundle do not have the names that the documents" in found.problems[-1]


def test_what_nobody_vouches_for_is_told() -> None:
    """Nothing says who wrote the page and the roots of a bundle, though its timestamp says since when they are so."""
    parts = parts_of(bundle_of(finished()))
    found = checked(restamped(parts, {asic.README: b"<h1>All is well</h1>", asic.ROOTS: b""}))
    told = "Nothing else is known of README.html, certificates.pem, roots.pem and revocation/."
    assert [told in each for each in found.matches if "as they were on" in each] == [True]
