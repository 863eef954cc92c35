"""The first sentences of the proof: who has signed what, and how it is sealed."""

from paraph.pdf.typesetting.proof_content import ProofContent
from paraph.words import Words, listed, moment, phrase


def verdict(content: ProofContent, words: Words) -> str:
    """Returns the sentences in the language of ``words``."""
    signers = len(content.signers)
    return " ".join(
        [
            words["both_signed"] if signers == 2 else phrase(words, "everyone_signed", count=signers),
            phrase(words, "completed_at", moment=moment(content.completed_at, words["locale"])),
            phrase(words, "documents_sealed", count=len(content.documents)),
            _timestamps(content, words),
        ]
    )


def _timestamps(content: ProofContent, words: Words) -> str:
    seals = [document.seal for document in content.documents]
    stamped = [seal for seal in seals if seal.timestamped_at is not None]
    if not stamped:
        return str(words["timestamped_none"])
    authority = listed(sorted({seal.timestamp_authority for seal in stamped}), words["locale"])
    if len(stamped) == len(seals):
        return phrase(words, "timestamped_all", authority=authority)
    return phrase(words, "timestamped_some", stamped=len(stamped), total=len(seals), authority=authority)
