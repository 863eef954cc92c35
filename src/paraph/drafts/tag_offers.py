"""What tags name: ``{{signature:landlord}}`` a stamp, ``{{text:tenant:IBAN}}`` a field and what it is called."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paraph.drafts.models import DraftSigner
from paraph.signature_requests.fields.kinds import KINDS, Kind
from paraph.signature_requests.models import LONGEST_FIELD_NAME

_TAG = re.compile(r"\{\{([a-z_ ]+):([^:{}]+)(?::([^{}]+))?\}\}", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_STAMPS = ("signature", "sign", "stamp")


class Offer(NamedTuple):
    """``kind`` is None for a stamp; ``name``: "" where the tag gives none."""

    kind: Kind | None
    signer: DraftSigner
    name: str


def offers_of(tags: Iterable[str], signers: Sequence[DraftSigner]) -> dict[str, Offer]:
    """Return what each tag names that names something.

    Whose it is: the signer's whose name or number stands there; else the words that stand there, as "tenant", go
    through the signers in their order.
    """
    offers: dict[str, Offer] = {}
    of_words: dict[str, DraftSigner] = {}
    for tag in tags:
        found = _TAG.fullmatch(tag.strip())
        kinds = _kinds(found[1].strip().lower()) if found else ()
        words = found[2].strip().casefold() if found else ""
        if not found or not kinds or not words or not signers:
            continue
        if words not in of_words:
            named = named_signer(words, signers)
            free = [signer for signer in signers if signer not in of_words.values()]
            of_words[words] = named or (free or list(signers))[0]
        offers[tag] = Offer(kinds[0], of_words[words], _name(found[3] or ""))
    return offers


def named_signer(words: str, signers: Sequence[DraftSigner]) -> DraftSigner | None:
    """Return the signer whose name is among the words, else the one whose number is."""
    found = set(re.findall(r"\w+", words.casefold()))
    for signer in signers:
        if found & set(f"{signer.first_name} {signer.last_name}".casefold().split()):
            return signer
    number = _NUMBER.search(words)
    return signers[int(number[0]) - 1] if number and 1 <= int(number[0][:9]) <= len(signers) else None


def _name(words: str) -> str:
    """Tags are found without the blanks in them, so an underscore stands for one."""
    return words.replace("_", " ").strip()[:LONGEST_FIELD_NAME]


def _kinds(what: str) -> tuple[Kind | None, ...]:
    """Return the kind of field that the word means, None for a stamp; nothing where it means neither."""
    if what in _STAMPS:
        return (None,)
    return tuple(kind for kind in KINDS.values() if what in (kind.type, *kind.tags))
