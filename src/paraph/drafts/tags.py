"""The tags and signature lines of documents; the first stamps and fields of a draft, which stand where tags and lines
ask for them; and the words that stamps and fields cover.

``{{signature:landlord}}`` names a stamp, ``{{text:tenant:IBAN}}`` a field and what it is called."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import partial
from typing import NamedTuple, TypeVar

from paraph.documents.models import Document
from paraph.drafts.editing import STAMP_SIZE, held
from paraph.drafts.models import DocumentTags, Draft, DraftSigner, Placed
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.pages import Rect
from paraph.pdf.untrusted.page_reading import (
    FoundTag,
    Place,
    SignatureLine,
    find_covered_words,
    list_signature_lines,
    list_tags,
    under,
)
from paraph.signature_requests.fields.input import MOST_FIELDS
from paraph.signature_requests.fields.kinds import KINDS, Kind, free_name
from paraph.signature_requests.input import MOST_STAMPS
from paraph.signature_requests.models import LONGEST_FIELD_NAME
from paraph.signature_requests.values import HEIGHTS, WIDTHS
from paraph.storage import store
from paraph.tenants.scope import tenant_key

Size = tuple[float, float]
Target = FoundTag | SignatureLine
Found = TypeVar("Found")

_TAG = re.compile(r"\{\{([a-z_ ]+):([^:{}]+)(?::([^{}]+))?\}\}", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_STAMPS = ("signature", "sign", "stamp")
_SIZES: tuple[Size, ...] = (STAMP_SIZE, (140, 48), (120, 40), (100, 34), (80, 30))
_CRAMPED: Size = (120, 40)  # where every size covers words, and somebody has to look


class Offer(NamedTuple):
    """What a tag names. ``kind`` is None for a stamp; ``name``: "" where the tag gives none."""

    kind: Kind | None
    signer: DraftSigner
    name: str


def tags_of(document: Document) -> dict[str, FoundTag]:
    """Return the tags of the document, in reading order. Its file is searched once; none are found in a file that
    cannot be searched."""
    return {tag: FoundTag(*place) for tag, *place in _known(document).found}


def signature_lines_of(document: Document) -> list[SignatureLine]:
    """Return the blank lines of the document, searched once, as its tags are; those that wait for a signature first."""
    known = _known(document)
    if known.lines is None:
        known.lines = [list(astuple(line)) for line in _search(document, list_signature_lines) or ()]
        DocumentTags.objects.filter(document=document).update(lines=known.lines)
    return [SignatureLine(*line) for line in known.lines]


def _known(document: Document) -> DocumentTags:
    known = DocumentTags.objects.filter(document=document).first()
    if known is None:
        tags = _search(document, list_tags) or {}
        known = DocumentTags(document=document, found=[[tag, *astuple(at)] for tag, at in tags.items()])
        DocumentTags.objects.bulk_create([known], ignore_conflicts=True)
    return known


def _search(document: Document, search: Callable[..., Found]) -> Found | None:
    try:
        pdf = partial(store.get, document.shown_key)
        return search(pdf, tenant_key=tenant_key(document), sha256=document.shown_sha256)
    except PdfRefused:
        return None


def offers_of(tags: Iterable[str], signers: Sequence[DraftSigner]) -> dict[str, Offer]:
    """Return what each tag names, without the tags that name nothing.

    A tag is for the signer whose name or number stands in it. Any other words, such as "tenant", stand for the next
    signer in the signers' order.
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
        name = (found[3] or "").replace("_", " ")  # tags are found without the blanks in them
        offers[tag] = Offer(kinds[0], of_words[words], name.strip()[:LONGEST_FIELD_NAME])
    return offers


def named_signer(words: str, signers: Sequence[DraftSigner]) -> DraftSigner | None:
    """Return the signer whose name is among the words, else the one whose number is."""
    found = set(re.findall(r"\w+", words.casefold()))
    for signer in signers:
        if found & set(f"{signer.first_name} {signer.last_name}".casefold().split()):
            return signer
    number = _NUMBER.search(words)
    return signers[int(number[0]) - 1] if number and 1 <= int(number[0][:9]) <= len(signers) else None


def _kinds(what: str) -> tuple[Kind | None, ...]:
    """Return the kind of field that the word means, None for a stamp; nothing where it means neither."""
    if what in _STAMPS:
        return (None,)
    return tuple(kind for kind in KINDS.values() if what in (kind.type, *kind.tags))


def sizes_for(document: Document, targets: Sequence[Target]) -> list[Size]:
    """Return the size of a stamp for each target: on a line, as high as the room above it; under a tag, the largest of
    some sizes that covers no words there, or the usual one where the document cannot be read now."""
    tags = [target for target in targets if isinstance(target, FoundTag)]
    under_tags = iter(_sizes_under(document, tags))
    return [next(under_tags) if isinstance(target, FoundTag) else _size_on(target) for target in targets]


def _size_on(line: SignatureLine) -> Size:
    width, height = STAMP_SIZE
    return max(min(line.width, width), WIDTHS[0]), float(round(max(min(line.room, height), HEIGHTS[0])))


def _sizes_under(document: Document, tags: Sequence[FoundTag]) -> list[Size]:
    places = [_rooms(document, tag) for tag in tags]
    asked = [
        (tag.page_number, at.x, at.y, at.width, at.height)
        for tag, candidates in zip(tags, places, strict=True)
        for at in candidates
    ]
    try:
        free = iter([not words for words in covered_words(document, asked)])
    except DomainError:
        return [STAMP_SIZE] * len(tags)
    sizes = []
    for candidates in places:
        fitting = [(at.width, at.height) for at in candidates if next(free)]
        sizes.append(fitting[0] if fitting else _CRAMPED)
    return sizes


def _rooms(document: Document, tag: FoundTag) -> list[Rect]:
    """Return the places of all sizes for which the page has room, the largest first."""
    found = []
    for size in _SIZES:
        with suppress(PdfRefused):
            found.append(under(tag, document.pages[tag.page_number - 1], *size))
    return found


def offers_in(draft: Draft) -> dict[str, Offer]:
    """Return what the tags of all documents of the draft name, by tag."""
    return offers_of([tag for document in draft.files() for tag in tags_of(document)], draft.signing)


def place_by_tags(draft: Draft) -> list[Placed]:
    """Put a stamp, or the field that it names, under each tag whose signer is clear, and a stamp on each line that
    clearly waits for one signer; only once for a draft, so that what is removed stays away. Return the stamps on lines,
    which nobody has asked for by a tag.

    A tag is for the signer whose name stands in it, else for the one whose number does; tags with neither go to the
    signers in their order.
    """
    if draft.tags_placed or not draft.signing:
        return []
    offers = offers_in(draft)  # the files are read before the draft is held
    on_lines = lines_placed(draft)
    with held(draft):
        if draft.tags_placed:
            return []
        places = draft.places()
        for document in draft.files():
            tagged = _stamps(document, draft.signing, offers)
            places += [*tagged, *_fields(document, offers)]
            if tagged:
                on_lines = [at for at in on_lines if at.document != document]
        draft.place([*places, *on_lines])
        draft.tags_placed = True
        draft.save(update_fields=["tags_placed"])
        return on_lines


def lines_placed(draft: Draft) -> list[Placed]:
    """Return a stamp for each line of the draft's documents that names its signer, or that is the only line of its
    document where there is only one signer."""
    found = []
    for document in draft.files():
        count = dict.fromkeys(draft.signing, 0)
        for line, signer, is_clear in wanted(signature_lines_of(document), draft.signing):
            count[signer] += is_clear
            if is_clear and count[signer] <= MOST_STAMPS:
                at = (line.page_number, round(line.x, 2), round(line.y, 2))
                found.append(Placed(document, signer, *at, *_size_on(line)))
    return found


def take_back(draft: Draft) -> None:
    """Remove the stamps that :func:`place_by_tags` put on lines, where they still stand."""
    on_lines = {(at.document, at.signer, at.page_number, at.x, at.y) for at in lines_placed(draft)}
    with held(draft):
        places = [at for at in draft.places() if (at.document, at.signer, at.page_number, at.x, at.y) not in on_lines]
        draft.place(places)


def _stamps(document: Document, signers: Sequence[DraftSigner], offers: dict[str, Offer]) -> list[Placed]:
    stamps: list[Placed] = []
    unnamed = list(signers)
    tags = {tag: found for tag, found in tags_of(document).items() if tag not in offers or not offers[tag].kind}
    for (tag, found), size in zip(tags.items(), sizes_for(document, list(tags.values())), strict=True):
        named = offers[tag].signer if tag in offers else named_signer(tag, signers)
        signer = named or (unnamed.pop(0) if unnamed else None)
        if signer is None or sum(stamp.signer == signer for stamp in stamps) == MOST_STAMPS:
            continue
        if signer in unnamed:
            unnamed.remove(signer)
        if place := _under(document, found, size):
            stamps.append(Placed(document, signer, *place))
    return stamps


def _fields(document: Document, offers: dict[str, Offer]) -> Iterator[Placed]:
    names: dict[DraftSigner, list[str]] = {}
    for tag, found in tags_of(document).items():
        kind, signer, name = offers.get(tag, (None, None, ""))
        place = _under(document, found, kind.drawn) if kind else None
        own = names.setdefault(signer, []) if signer else []
        if not kind or not signer or not place or len(own) == MOST_FIELDS:
            continue
        own.append(free_name(name or str(kind.label), own))
        yield Placed(document, signer, *place, field=kind.content(own[-1]))


def _under(document: Document, found: FoundTag, size: Size) -> tuple[int, float, float, float, float] | None:
    """Return page and rectangle; None where the page has no room for it."""
    width, height = document.pages[found.page_number - 1]
    try:
        at = under(found, (width, height), *size)
    except PdfRefused:
        return None
    return found.page_number, round(at.x, 2), round(at.y, 2), round(at.width, 2), round(at.height, 2)


_RULE = 3  # raise it when words are found in another way, so that what was kept is no longer used
_AT_A_TIME = 200  # places, for which the time of one job is plenty


def covered_words(document: Document, places: Sequence[Place]) -> list[list[str]]:
    """Return the whole words under each place, by lines, none on a page that cannot be read.

    They are found once and kept beside the pictures of the pages. Raise :class:`paraph.pdf.refusal.ReadersUnavailable`.
    """
    if not places:
        return []
    places = [
        (number, round(x, 2), round(y, 2), round(width, 2), round(height, 2)) for number, x, y, width, height in places
    ]
    digest = hashlib.sha256(json.dumps(places).encode()).hexdigest()[:32]
    key = f"pages/{document.shown_sha256.hex()}/covered-{_RULE}-{digest}.json"
    with suppress(FileNotFoundError):
        kept: list[list[str]] = json.loads(store.get(key))
        return kept
    found = list(_found(document, places))
    with suppress(OSError):  # without room to keep it, it is found again
        store.put(key, json.dumps(found).encode())
    return found


def _found(document: Document, places: Sequence[Place]) -> Iterator[list[str]]:
    pdf = partial(store.get, document.shown_key)
    for first in range(0, len(places), _AT_A_TIME):
        some = places[first : first + _AT_A_TIME]
        try:
            yield from find_covered_words(pdf, some, tenant_key=tenant_key(document), sha256=document.shown_sha256)
        except PdfRefused:
            yield from [[] for _ in some]


class Wanted(NamedTuple):
    """A line on which the signer is to sign; ``is_clear``: their name stands there, or there is but one line and one
    signer; otherwise, the signer follows from the order of the lines."""

    line: SignatureLine
    signer: DraftSigner
    is_clear: bool


def wanted(lines: Sequence[SignatureLine], signers: Sequence[DraftSigner]) -> list[Wanted]:
    """Return the lines that wait for a signature, each with the signer.

    Of lines without a name, those with the same label are for one signer, in the signers' order; where all have the
    same label, they go to the signers in turn. Signers who are named on another line are passed over, unless all are.
    """
    if not signers:
        return []
    named = {line: _named(line, signers) for line in lines}
    open_lines = [line for line, signer in named.items() if line.is_for_signature and signer is None]
    others = [signer for signer in signers if signer not in named.values()] or list(signers)
    labels = list(dict.fromkeys(line.label.casefold() for line in open_lines))
    turns = {
        line: labels.index(line.label.casefold()) if len(labels) > 1 else turn for turn, line in enumerate(open_lines)
    }
    found = []
    for line, signer in named.items():
        if signer:
            found.append(Wanted(line, signer, is_clear=True))
        elif line in turns:
            is_clear = len(signers) == 1 == len(turns)
            found.append(Wanted(line, others[turns[line] % len(others)], is_clear))
    return found


def _named(line: SignatureLine, signers: Sequence[DraftSigner]) -> DraftSigner | None:
    """Return the signer whose last name stands in the nearest words that have one; where nothing says what the line is
    for, the whole name has to be its label."""
    parts = [(_words(each.first_name), _words(each.last_name)) for each in signers]
    if not line.is_for_signature:
        whole = [
            signer for signer, (first, last) in zip(signers, parts, strict=True) if _words(line.label) == first | last
        ]
        return whole[0] if len(whole) == 1 else None
    for told in (line.label, *line.about.split(" / ")):
        words = _words(told)
        counts = [len(words & (first | last)) if words & last else 0 for first, last in parts]
        if max(counts):
            return signers[counts.index(max(counts))] if counts.count(max(counts)) == 1 else None
    return None


def _words(text: str) -> set[str]:
    bare = unicodedata.normalize("NFKD", text.casefold())
    return set(re.findall(r"\w+", "".join(each for each in bare if not unicodedata.combining(each))))
