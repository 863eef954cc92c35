"""Where a transparency log has proofs, as what that adds to the verdict on them."""

from collections.abc import Mapping
from typing import NamedTuple

from paraph.pdf.asic import PROOF
from paraph.pdf.report import EvidenceCheck, Inclusion
from paraph.pdf.verdict import Fault
from paraph.transparency.audit import audit, fetching, offered_key
from paraph.transparency.merkle import ProofRefused
from paraph.transparency.proof import Policy, check_tlog_proof, of_log, read_proof


class Places(NamedTuple):
    """What is asked. ``url``: of the log that has to have the proofs now, read whole; "" where nobody is asked.
    ``policy``: the logs and witnesses to believe; None for whatever key the log at ``url`` offers. ``inclusion``: the
    proof of inclusion, None where none is given."""

    url: str = ""
    policy: Policy | None = None
    inclusion: str | None = None

    @property
    def asked(self) -> bool:
        return bool(self.url or self.policy)

    def of(self, digests: Mapping[str, bytes]) -> dict[str, Fault]:
        """Return a sentence about each file, given by name and SHA-256: as the fault of no kind where it is in the log,
        which extends the checkpoint of the proof of inclusion."""
        policy, origin, entries = self.policy, "", dict[bytes, int]()
        try:
            if self.url:
                with fetching(self.url) as fetch:
                    policy = policy or of_log(offered_key(fetch))
                    newest, entries = audit(fetch, policy, self.inclusion or "", digests.values())
                    origin = newest.origin
        except ProofRefused as refused:
            return dict.fromkeys(digests, Fault("GENERIC", f"Whether {self.url} contains it cannot be told: {refused}"))
        told = dict[str, Fault]()
        for name, digest in digests.items():
            try:
                if self.url and digest not in entries:
                    raise ProofRefused("It has no such entry.")
                if self.inclusion is not None:
                    origin = check_tlog_proof(self.inclusion, digest, policy or Policy()).origin
                elif not self.url:
                    raise ProofRefused("There is no proof of inclusion.")
                entry = entries[digest] if self.url else read_proof(self.inclusion or "").entry
                told[name] = Fault("", f"{name} is entry {entry} of the log {origin}.")
            except ProofRefused as refused:
                sentence = f"That {origin or 'a log'} has {name} does not hold: {refused}"
                told[name] = Fault("SIG_CONSTRAINTS_FAILURE", sentence)
        return told

    def note_bundle(self, check: EvidenceCheck, inclusion: Inclusion) -> list[str]:
        """Note what its own proof of inclusion adds to the check of a bundle; return what :meth:`note` does."""
        return self._replace(inclusion=inclusion.text).note(check, {PROOF: inclusion.proof_sha256})

    def note(self, check: EvidenceCheck, digests: Mapping[str, bytes]) -> list[str]:
        """Note where the log has the proofs; return the sentences about those that it has."""
        found = self.of(digests).values()
        if not found:
            check.fault("No proof was given, so the log was asked for none.", "GENERIC")
        for place in found:
            check.note(not place.kind, place.sentence, place.sentence, place.kind)
        return [place.sentence for place in found if not place.kind]
