"""The signers in the proof: who, how, when, and what their signature looks like."""

from collections.abc import Mapping, Sequence
from typing import Any

from paraph.pdf.typesetting.glyph_fallback import clean, glyph_fallback, template_text
from paraph.pdf.typesetting.initials import NAMELESS, initials_of
from paraph.pdf.typesetting.proof_content import ProofSigner
from paraph.pdf.typesetting.proof_words import milliseconds, named
from paraph.pdf.typesetting.readable_name import readable_name, written_otherwise
from paraph.pdf.typesetting.signature_pictures import SignaturePictures, hand_of
from paraph.words import Words

_SIGNATURE = (118.0, 40.0)
_INITIALS = (34.0, 20.0)
"""About the widths and heights that templates/proof.typ gives to them, in points."""


def signers(content: Sequence[ProofSigner], words: Words) -> dict[str, Any]:
    """Returns ``signers`` and ``drawings``, the pictures that their marks name by number."""
    sized = [(signer.signature, *_SIGNATURE) for signer in content]
    sized += [(signer.initials, *_INITIALS) for signer in content if signer.initials]
    pictures = SignaturePictures(sized)
    return {
        "signers": [_signer(signer, pictures, words) for signer in content],
        "drawings": pictures.pictures,
    }


def _signer(signer: ProofSigner, pictures: SignaturePictures, words: Words) -> dict[str, Any]:
    name = clean(readable_name(signer.name, signer.email)) or NAMELESS
    is_drawn = pictures.number(signer.signature) is not None
    return {
        "order": str(signer.order),
        "name": template_text(readable_name(signer.name, signer.email)),
        "note": _note(signer, words),
        "email": template_text(signer.email),
        "channel": named(words, "channel", signer.channel),
        "destination": template_text(signer.destination),
        "signed_at": milliseconds(signer.signed_at),
        "ip": template_text(signer.ip),
        "user_agent": template_text(signer.user_agent),
        "signature": words["drawn" if is_drawn else "typed"],
        "mark": _mark(name, signer.signature, pictures),
        "initials": _mark(initials_of(name), signer.initials, pictures) if signer.initials else None,
        "opened": milliseconds(signer.opened_at) if signer.opened_at else "",
        "opened_ip": template_text(signer.opened_ip),
        "refused_codes": list(map(milliseconds, signer.refused_codes)),
        "documents": [template_text(name) for name in signer.documents],
    }


def _note(signer: ProofSigner, words: Words) -> str:
    if not written_otherwise(signer.name, signer.email):
        return ""
    is_read = readable_name(signer.name, signer.email) == signer.name
    return str(words["transliterated" if is_read else "address_instead"])


def _mark(text: str, mark: Mapping[str, Any], pictures: SignaturePictures) -> dict[str, Any]:
    written = glyph_fallback(text)
    return {
        "name": {**written.to_json(), "pieces": written.pieces()},
        "hand": hand_of(mark),
        "drawing": pictures.number(mark),
    }
