"""What is kept of a person, as a file to hand over."""

import os
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path

from paraph.flow.personal_data.erase import Kept
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.person_report import ReportedPlace, person_report


def write_person_file(out: Path, address: str, at: datetime, kept: Sequence[Kept]) -> None:
    """Write the PDF, readable by the service's user alone. Raise ``DomainError`` if it exists or cannot be written."""
    places = [_reported(name, list(things)) for name, things in groupby(kept, lambda each: each.place)]
    content = person_report(address, at, places)
    try:
        with os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except FileExistsError as error:
        raise DomainError("validation_error", f"{out} exists already.") from error
    except OSError as error:
        raise DomainError("configuration", f"{out} cannot be written: {error.strerror or error}.") from error


def _reported(name: str, things: Sequence[Kept]) -> ReportedPlace:
    """Leave out commands, which are for operators: the person reads that it can be erased."""
    note = things[0].stays or "This can be erased, on request or by the organization."
    return ReportedPlace(name, note, [each.facts for each in things])
