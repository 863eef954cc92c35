"""Bundles of evidence: made twice they are the same bytes, other programs check each part, and what was altered is
seen."""

import io
from typing import Any

import pytest

from paraph.bundle.make import open_bundle
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import finalize
from paraph.pdf.verification.bundle_check import check_bundle
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db


def finished(**options: Any) -> Scene:
    made = scene(**options)
    for position in range(len(made.signers)):
        sign(made, position)
    for row in made.request_documents:
        finalize(row.pk)
    return made


def bundle_of(made: Scene) -> bytes:
    with open_bundle(made.request.pk) as file:
        file.seek(0)
        return file.read()


def test_first() -> None:
    made = finished(documents=2)
    bundle = bundle_of(made)
    assert bundle == bundle_of(made)
    found = check_bundle(io.BytesIO(bundle), sealing_context().roots("sandbox"))
    assert found.ok, found.problems
