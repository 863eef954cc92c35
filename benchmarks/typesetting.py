"""Milliseconds for stamps and proofs on this machine: python -m benchmarks.typesetting

Every round has names, numbers and times of its own, so that nothing comes out of a cache. Warm: one compile went
before. The processor's time beside the clock's shows what other work on the machine costs.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from paraph.pdf.typesetting.appearances import StampContent, appearances
from paraph.pdf.typesetting.proof import JournalLine, ProofContent, ProofDocument, ProofSeal, ProofSigner, proof

_AT = datetime(2026, 11, 21, 14, 5, 9, tzinfo=UTC)
_STAMP = StampContent(width=200, height=80, name="", signed_at=_AT, request_id=1)
_DRAWN = {"type": "drawn", "strokes": [[[i / 200, 0.3 + 0.2 * ((i * 7) % 20) / 20] for i in range(200)]]}
_SEAL = ProofSeal("ECDSA_SHA_256", "local:9f86d081884c7d65", _AT, _AT, "Example Timestamp Authority", "1.2.3.4")


def main() -> None:
    rows: list[tuple[str, int, Callable[[int], object]]] = [
        ("1 stamp, typed", 30, lambda turn: appearances([_stamp(turn, 0)])),
        ("1 stamp, drawn", 30, lambda turn: appearances([replace(_stamp(turn, 0), signature=_DRAWN)])),
        ("10 stamps, typed", 10, lambda turn: appearances([_stamp(turn, number) for number in range(10)])),
        ("sandbox watermark", 10, lambda turn: appearances(watermarks=[(595 + turn, 842)])),
        ("proof, 2 signers, 60 journal lines", 5, lambda turn: proof(_proof(turn, 2, 1, 60))),
        ("proof, 100 signers, 50 documents, 1000 lines", 2, lambda turn: proof(_proof(turn, 100, 50, 1000))),
    ]
    appearances([_STAMP])
    print(f"{'':46}{'ms':>9}{'ms of processor':>18}")
    for name, rounds, work in rows:
        work(rounds + 1)
        clock, processor = time.perf_counter(), time.process_time()
        for turn in range(rounds):
            work(turn)
        spent = (time.perf_counter() - clock) / rounds, (time.process_time() - processor) / rounds
        print(f"{name:46}{spent[0] * 1000:9.1f}{spent[1] * 1000:18.1f}")


def _stamp(turn: int, number: int) -> StampContent:
    return replace(_STAMP, name=f"Signer {turn}-{number}", request_id=turn)


def _proof(turn: int, signers: int, documents: int, lines: int) -> ProofContent:
    at = _AT + timedelta(days=turn)
    people = [
        ProofSigner(f"Signer {turn}-{n}", f"signer{n}@example.org", n, "sms", f"+3361234{n:04}", at, "203.0.113.7")
        for n in range(signers)
    ]
    journal = [
        JournalLine(n, "signer.otp_sent", at + timedelta(seconds=n), people[n % signers].name, "203.0.113.7",
                    "Mozilla/5.0 (X11; Linux)", {"provider": "sms", "recipient": "+33612345678", "resend": False})
        for n in range(lines)
    ]  # fmt: skip
    return ProofContent(
        request_id=turn,
        organization="Acme",
        environment="production",
        mode="parallel",
        created_at=at,
        completed_at=at,
        issued_at=at,
        signers=people,
        documents=[ProofDocument(n, f"contract-{n}.pdf", 3, "a1" * 32, "b2" * 32, _SEAL) for n in range(documents)],
        journal=journal,
        journal_hash="c3" * 32,
    )


if __name__ == "__main__":
    main()
