"""What signers did before they signed and the journal has no event for: opening the page, entering wrong codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paraph.database.compiled_query import CompiledQuery
from paraph.kernel import clock
from paraph.otp.models import RefusedCode
from paraph.signature_requests.models import FirstOpening, Signer

_OPENINGS = CompiledQuery(FirstOpening.objects.all, "signer__request")
_REFUSED = CompiledQuery(lambda: RefusedCode.objects.order_by("id"), "signer__request")


@dataclass(frozen=True)
class Visits:
    """``opening`` is None where nobody noted it: in requests of earlier versions, and where a program signed."""

    opening: FirstOpening | None
    refused_codes: Sequence[datetime]

    def evidence(self) -> dict[str, Any]:
        """Returns what evidence.json adds to the signer."""
        refused = [clock.iso_milliseconds(moment) for moment in self.refused_codes]
        if self.opening is None:
            return {"refused_codes": refused}
        opening = {"at": clock.iso_milliseconds(self.opening.opened_at), "ip": self.opening.ip}
        return {"first_opening": opening, "refused_codes": refused}


def visits_of(request_id: int, signers: Sequence[Signer]) -> list[Visits]:
    """Returns the visits of each signer, in their order."""
    openings = {opening.signer_id: opening for opening in _OPENINGS.all(request_id)}
    refused: dict[int, list[datetime]] = {signer.pk: [] for signer in signers}
    for code in _REFUSED.all(request_id):
        refused[code.signer_id].append(code.refused_at)
    return [Visits(openings.get(signer.pk), refused[signer.pk]) for signer in signers]
