"""The signers in the evidence, against its journal and the pages of the proof."""

from collections.abc import Mapping, Sequence
from typing import Any

from paraph.pdf.verification.evidence_result import EvidenceCheck

_SIGNING_EVENT = "signer.signed"  # as the format of the evidence calls it


def check_signers(
    result: EvidenceCheck, signers: Sequence[Mapping[str, Any]], journal: Sequence[Mapping[str, Any]], printed: str
) -> None:
    """Note whether each signer has signed exactly once, nobody else has, and the proof prints each one's address, and
    when they opened the page and entered wrong codes, which proofs of earlier versions do not state.

    ``printed``: the text of the proof without white space. Raises ``KeyError`` or ``TypeError`` for incomplete
    evidence.
    """
    signed = [entry["signer_id"] for entry in journal if entry["event_type"] == _SIGNING_EVENT]
    names = {signer["id"]: signer["full_name"] for signer in signers}
    for number, name in names.items():
        if signed.count(number) != 1:
            result.problems.append(f"The journal names {signed.count(number)} signatures by {name}; one is needed.")
    if strangers := sorted(str(number) for number in set(signed) - set(names)):
        result.problems.append(f"The journal names signatures by others than the signers: {', '.join(strangers)}.")
    complete = bool(names) and sorted(signed) == sorted(names)
    if complete:
        result.matches.append(f"The journal names one signature by each signer: {', '.join(names.values())}.")
    elif not names:
        result.problems.append("The proof names no signer.")
    # An address in another script may be printed in transliteration; the evidence has the exact one.
    missing = [s["email"] for s in signers if s["email"].isascii() and "".join(s["email"].split()) not in printed]
    result.note(
        not missing, "The proof prints the address of each signer.", f"The proof does not print {', '.join(missing)}."
    )
    _check_visits(result, signers, printed)


def _check_visits(result: EvidenceCheck, signers: Sequence[Mapping[str, Any]], printed: str) -> None:
    times = {
        (signer["full_name"], at)
        for signer in signers
        for at in (
            *([signer["first_opening"]["at"]] if "first_opening" in signer else []),
            *signer.get("refused_codes", []),
        )
    }
    missing = sorted(f"{name}, {at}" for name, at in times if at.replace("T", "").replace("Z", "UTC") not in printed)
    if times:
        result.note(
            not missing,
            "The proof prints when pages were first opened and which codes were refused.",
            f"The proof does not print an opening of the page or a refused code: {'; '.join(missing)}.",
        )
