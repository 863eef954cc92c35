"""Signatures and timestamps put over an altered file. An authority stamps whatever it is asked to."""

from collections.abc import Callable
from functools import partial

from lab.fuzz.altered import authorities
from lab.fuzz.altered.genuine import resealed
from lab.fuzz.altered.known import Known, Pairs
from lab.fuzz.altered.tail import Tail, signature_body
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.one_form import CmsTemplate
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.sealing.seal import SealError

STAMP = b"/Type/DocTimeStamp/Filter/Adobe.PPKLite/SubFilter/ETSI.RFC3161"
SIGNATURE = b"/Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20250701120000Z)"
Sign = Callable[[bytes], bytes]


class _Unsaid(Purpose):
    attribute = b""


def trusted_token(digest: bytes) -> bytes:
    return authorities.token(digest, authorities.trusted_timestamps())


def untrusted_token(digest: bytes) -> bytes:
    return authorities.token(digest, authorities.untrusted_timestamps())


def signed_by(key: LocalKey, digest: bytes) -> bytes:
    """Return a CMS signature as PAdES wants it, without the attribute that states the purpose of a seal."""
    with authorities.steady(authorities.ALTERED_AT):
        made, purpose = CmsTemplate(key), _Unsaid("document", 0, "")
        attributes = made.signed_attributes(digest, purpose)
        return made.assemble(attributes, key.sign(attributes).value)


def by_signer(digest: bytes) -> bytes:
    return signed_by(authorities.signer(), digest)


def by_stranger(digest: bytes) -> bytes:
    return signed_by(authorities.stranger(), digest)


def rubbish(_digest: bytes) -> bytes:
    return b"\x30\x03\x02\x01\x01"


def signature_field(value: int, page: int, name: bytes) -> Pairs:
    """Return the dictionary of an invisible signature field."""
    return Pairs(
        [
            (b"/FT", b"/Sig"),
            (b"/T", name),
            (b"/V", b"%d 0 R" % value),
            (b"/Type", b"/Annot"),
            (b"/Subtype", b"/Widget"),
            (b"/F", b"132"),
            (b"/Rect", b"[0 0 0 0]"),
            (b"/P", b"%d 0 R" % page),
        ]
    )


def add_signature(
    tail: Tail,
    sign: Sign = trusted_token,
    about: bytes = STAMP,
    name: bytes = b"(Attack)",
    change: Callable[[Pairs], None] = lambda _pairs: None,
) -> int:
    """Add a signature field to this revision and return its object number. ``change`` alters its dictionary."""
    value = tail.add(signature_body(about))
    pairs = signature_field(value, tail.known.pages[0], name)
    change(pairs)
    number = tail.add(pairs.text())
    tail.add_field(number)
    tail.annotate(number)
    tail.form.set(b"/SigFlags", b"3")
    tail.signed_by = sign
    return number


def _in_a_revision_of_its_own(known: Known, sign: Sign, about: bytes, name: bytes) -> Known:
    tail = Tail(known)
    add_signature(tail, sign, about, name)
    return tail.write()


OVER: dict[str, Callable[[Known], Known]] = {
    "under a trusted timestamp": partial(
        _in_a_revision_of_its_own, sign=trusted_token, about=STAMP, name=b"(Later timestamp)"
    ),
    "under a stranger's timestamp": partial(
        _in_a_revision_of_its_own, sign=untrusted_token, about=STAMP, name=b"(Later timestamp)"
    ),
    "under a trusted signature": partial(
        _in_a_revision_of_its_own, sign=by_signer, about=SIGNATURE, name=b"(Later signature)"
    ),
    "under a stranger's signature": partial(
        _in_a_revision_of_its_own, sign=by_stranger, about=SIGNATURE, name=b"(Later signature)"
    ),
    "under a trusted timestamp, Archive\\x07": partial(
        _in_a_revision_of_its_own, sign=trusted_token, about=STAMP, name=b"(Archive\x07)"
    ),
    "under a trusted timestamp, 128 x": partial(
        _in_a_revision_of_its_own, sign=trusted_token, about=STAMP, name=b"(" + b"x" * 128 + b")"
    ),
    "under rubbish": partial(_in_a_revision_of_its_own, sign=rubbish, about=SIGNATURE, name=b"(Later signature)"),
}
"""Covers that add one more revision."""

WITHIN: dict[str, tuple[Sign, bytes]] = {
    "with a trusted timestamp": (trusted_token, STAMP),
    "with a stranger's timestamp": (untrusted_token, STAMP),
    "with a trusted signature": (by_signer, SIGNATURE),
    "with a stranger's signature": (by_stranger, SIGNATURE),
    "with rubbish": (rubbish, SIGNATURE),
}
"""Covers in the revision of the alteration itself."""

UNDER_SEALS: dict[str, str] = {"sealed again, B-T": "B-T", "sealed again, B-LTA": "B-LTA"}
"""Levels at which the service seals the altered file when somebody uploads it."""

COVERS = ["bare", *WITHIN, *OVER, *UNDER_SEALS]
ACCEPTED = {name for name in COVERS if "trusted" in name or "sealed again" in name}


class NotSealed(Exception):
    """The service refuses the altered file."""


def sealed_again(pdf: bytes, level: str) -> bytes:
    """Seal the altered file as an upload. Raise :class:`NotSealed` where the service refuses it."""
    try:
        return resealed(pdf, level)
    except SealError as error:
        raise NotSealed(str(error)) from error
