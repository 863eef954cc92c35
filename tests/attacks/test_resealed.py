"""A sealed file that another customer altered and had sealed again is not called valid."""

import json
from pathlib import Path

import pytest

from paraph.keys import read_roots
from paraph.pdf.verification.verify import verify
from tests.attacks.bystander import client, upload
from tests.attacks.conftest import Target
from tests.attacks.files import finished, verified
from tests.factories import pdf
from tests.pdf import revisions
from tests.pdf.revisions import revised


@pytest.fixture(scope="module")
def victims(target: Target) -> bytes:
    return finished(target.backend(), pdf())["signed.pdf"]


@pytest.fixture(scope="module")
def mallory(target: Target) -> str:
    """The API key of another organization."""
    return str(target.new_application()["api_key"])


def _appended(sealed: bytes) -> bytes:
    return revised(sealed, revisions.content)


def _overwritten(sealed: bytes) -> bytes:
    return sealed.replace(b"/MediaBox [ 0 0 595 842 ]", b"/MediaBox [ 0 0 595 442 ]", 1)


def test_a_file_altered_within_its_seal_is_not_sealed_again(target: Target, victims: bytes, mallory: str) -> None:
    altered = _overwritten(victims)
    assert altered != victims
    with client(target) as connection:
        refused = upload(connection, mallory, altered)
    assert refused.status_code == 422 and "an earlier signature that does not hold" in refused.text


def test_an_altered_file_that_was_sealed_again(target: Target, victims: bytes, mallory: str, tmp_path: Path) -> None:
    altered = _appended(victims)
    assert altered != victims
    sealed = finished(target.backend(mallory), altered)["signed.pdf"]

    said = verified(tmp_path, target, signed=sealed)

    assert said.exit_code == 1 and "signed.pdf: NOT VALID" in said.output, said.output
    assert 'The earlier seal Seal by "Paraph Development sandbox Seal" no longer matches' in said.output


def test_a_file_that_was_only_signed_again_stays_valid(
    target: Target, victims: bytes, mallory: str, tmp_path: Path
) -> None:
    files = finished(target.backend(mallory), victims)
    said = verified(tmp_path, target, **{name.removesuffix(".pdf"): content for name, content in files.items()})
    assert said.exit_code == 0, said.output
    assert verified(tmp_path, target, signed=files["signed.pdf"]).exit_code == 0


def test_whom_one_trusts_is_named_and_can_be_chosen(target: Target, victims: bytes, tmp_path: Path) -> None:
    root = target.data_dir / "keys" / "development" / "root.pem"
    found = verify(victims, read_roots(root))
    assert found.certificate and found.root
    for wanted in ("Paraph Development sandbox Seal", found.certificate.subject, found.certificate.sha256.upper()):
        told = json.loads(verified(tmp_path, target, "--json", "--signer", wanted, signed=victims).output)
        assert told["ok"] is True
        assert told["certificate"] == found.certificate.to_json() and told["root"] == found.root.to_json()
    said = verified(tmp_path, target, "--signer", "Mallory GmbH", signed=victims)
    assert said.exit_code == 1 and "It is not sealed by Mallory GmbH." in said.output
