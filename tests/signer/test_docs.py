"""docs/signer-endpoints.md tells of every refusal and every language."""

import re
from pathlib import Path

from paraph.signature_requests.consent import LOCALES
from paraph.signer.answers import STATUSES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "signer-endpoints.md").read_text()


def test_every_refusal_is_documented() -> None:
    rows = {(code, int(status)) for status, code in re.findall(r"^\| (\d{3}) \| `(\w+)`", DOCUMENT, re.MULTILINE)}
    assert rows == set(STATUSES.items())


def test_every_locale_is_documented() -> None:
    (row,) = [line for line in DOCUMENT.splitlines() if line.startswith("| `locale`")]
    assert set(re.findall(r"`(\w{2})`", row)) == set(LOCALES)
