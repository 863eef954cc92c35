"""What senders are told of a draft before it is sent: why it cannot be sent yet, in the words of its steps; what its
signatures and fields cover; options that nobody has named; and names that no font can write."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, product
from typing import NamedTuple

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from paraph.documents.models import Document
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft, DraftSigner, Placed, Step
from paraph.drafts.tags import covered_words
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.glyph_fallback import written_otherwise
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.models import Channel
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problem
from paraph.tenants.scope import TenantScope

_OF_ROW = re.compile(r"(documents|signers)\[(\d+)\]")


class Refusal(NamedTuple):
    """A sentence about what is wrong with a draft, and the step at which it can be mended. ``path``: the part of the
    creation that it is about, such as ``signers[1].phone``; "" where it is about no single part."""

    step: Step
    sentence: str
    path: str = ""


def refusals(scope: TenantScope, draft: Draft) -> list[Refusal]:
    """Return why the draft cannot be sent now; empty if it can. What is missing is told in the words of the steps;
    other problems are returned only once nothing is missing."""
    lacking = missing(draft)
    paths = {sentence: path for path, sentence in lacking.people.items()}
    if found := [Refusal(step, each, paths.get(each, "")) for step in Step for each in lacking.of(step)]:
        return found
    try:
        make_plan(scope, creation_of(draft.content), locale=draft.locale)
    except InvalidPayloadError as refused:
        return refusals_of(draft, refused)
    return []


def refusals_of(draft: Draft, refused: InvalidPayloadError) -> list[Refusal]:
    """Return the problems of the creation, each with the signer or file that it is about."""
    return [
        Refusal(_step(problem), f"{_subject(draft, problem)}{problem.sentence}", problem.path)
        for problem in refused.problems
    ]


def _subject(draft: Draft, problem: Problem) -> str:
    found = _OF_ROW.match(problem.path)
    if found is None:
        return ""
    if found[1] == "documents":
        names = [document.name for document in draft.files()]
    else:
        names = [signer.name(draft.locale) for signer in draft.signers]
    index = int(found[2])
    return f"{names[index]}: " if index < len(names) else ""


def _step(problem: Problem) -> Step:
    if problem.path.endswith("]") and problem.path.startswith("signers["):  # about no field: the signer signs nothing
        return Step.PLACEMENTS
    if problem.path.startswith("signers") or problem.path == "mode":
        return Step.SIGNERS
    if problem.path.startswith("documents"):
        return Step.PLACEMENTS if ".signers" in problem.path else Step.DOCUMENTS
    return Step.REVIEW


@dataclass(frozen=True)
class Missing:
    """``signers`` and ``documents``: the refs and the ids of those that have no stamp, each with the sentence that says
    so; ``people``: sentences about what is not known of signers, which only applications leave out, by the path of the
    first empty field; ``fields``: sentences about who fills in a document without signing it, and about fields without
    a value that signers cannot give; ``steps``: what a whole step lacks."""

    steps: dict[Step, str]
    signers: dict[str, str]
    documents: dict[int, str]
    people: dict[str, str]
    fields: list[str]

    def of(self, step: Step) -> list[str]:
        """Return the sentences on the step."""
        own = [self.steps[step]] if step in self.steps else []
        if step == Step.SIGNERS:
            return [*own, *self.people.values()]
        if step != Step.PLACEMENTS:
            return own
        return [*own, *self.signers.values(), *self.documents.values(), *self.fields]


def missing(draft: Draft) -> Missing:
    """Return what is missing. Which documents and signers lack a stamp is told only where there are both."""
    documents, signers = draft.files(), draft.signers
    steps = {}
    if not documents:
        steps[Step.DOCUMENTS] = _("Add a document first.")
    if not signers:
        steps[Step.SIGNERS] = _("Add a signer first.")
    elif not draft.signing:
        steps[Step.SIGNERS] = _("At least one person must sign, not only approve.")
    people = {path: sentence for signer in signers for path, sentence in _unknown(signer, draft.locale)}
    if steps:
        return Missing(steps, {}, {}, people, [])
    places = draft.places()
    stamped = {(each.signer.ref, each.document.pk) for each in places if each.field is None}
    of_signers, of_documents = {pair[0] for pair in stamped}, {pair[1] for pair in stamped}
    sentence = _("%(name)s has no place to sign yet.")
    half = _("%(name)s has fields on %(document)s, but no place to sign there yet.")
    names = {signer.ref: signer.name(draft.locale) for signer in draft.signing}
    fields = [each for each in places if each.field]
    unsigned = {
        (each.signer.ref, each.document.pk): each.document
        for each in fields
        if each.signer.ref in of_signers and (each.signer.ref, each.document.pk) not in stamped
    }
    return Missing(
        {},
        {ref: sentence % {"name": name} for ref, name in names.items() if ref not in of_signers},
        {each.pk: sentence % {"name": each.name} for each in documents if each.pk not in of_documents},
        people,
        [
            *(half % {"name": names[ref], "document": document.name} for (ref, _pk), document in unsigned.items()),
            *(sentence for field in fields if not draft.of_template and (sentence := _without_value(field))),
        ],
    )


def _without_value(at: Placed) -> str:
    """Return a sentence on a read-only field without a value, as templates made from requests have; "" for others."""
    asked = at.field or {}
    if not asked.get("read_only") or asked.get("value") is not None:
        return ""
    sentence = _("“%(field)s” on %(document)s needs a value, since signers cannot change it.")
    return sentence % {"field": asked.get("label") or asked["name"], "document": at.document.name}


def _unknown(signer: DraftSigner, locale: str) -> Iterator[tuple[str, str]]:
    """Yield the path of the first field of the signer that is empty and must not be, with a sentence on all of them."""
    fields = {"first_name": _("First name"), "last_name": _("Last name"), "email": _("E-mail")}
    if signer.otp_channel == Channel.SMS:
        fields["phone"] = _("Phone")
    lacking = {name: label for name, label in fields.items() if not getattr(signer, name)}
    if lacking:
        facts = {"signer": signer.name(locale), "fields": ", ".join(lacking.values())}
        yield f"signers[{signer.position}].{next(iter(lacking))}", _("%(signer)s still lacks: %(fields)s.") % facts


_MOST = 50  # nobody reads more at a time
_TOUCHING = 2.0  # points by which stamps and fields may overlap unseen


@dataclass(frozen=True)
class Remark:
    """A sentence about one place or two. ``rows``: these places, ``stamp-0`` for the first stamp of the draft,
    ``field-1`` for its second field."""

    sentence: str
    rows: tuple[str, ...]


def remarks(draft: Draft) -> list[Remark]:
    """Return remarks on what stamps and fields cover, and on options that nobody has named, in the order of documents;
    of many remarks the first."""
    return list(islice(_remarks(draft), _MOST))


def unwritten_names(draft: Draft) -> list[tuple[str, str]]:
    """Return the names of signers with letters that no font has, each with what stamps show in its place."""
    named = [(signer.name(draft.locale), signer.email) for signer in draft.signers]
    return [(name, written) for name, email in named if (written := written_otherwise(name, email))]


def _remarks(draft: Draft) -> Iterator[Remark]:
    documents, rows = draft.files(), {"stamp": count(), "field": count()}
    names = _names(draft)
    told = [
        _Told(at, f"{kind}-{next(rows[kind])}", names[at.signer.ref], several=len(documents) > 1)
        for at in draft.places()
        for kind in ["field" if at.field else "stamp"]
    ]
    for document in documents:
        here = [each for each in told if each.at.document == document]
        stamps, fields = ([each for each in here if (each.at.field is None) == is_stamp] for is_stamp in (True, False))
        yield from _covering(document, stamps, fields)
        yield from _overlapping(stamps, fields)
        yield from (Remark(sentence, (each.row,)) for each in fields if (sentence := _unnamed_options(each)))


def _names(draft: Draft) -> dict[str, str]:
    """Return what each signer is called in a sentence, by ref: the first name, unless two have it."""
    names = {each.ref: each.first_name or each.name(draft.locale) for each in draft.signers}
    taken = Counter(each.first_name for each in draft.signers)
    return names | {each.ref: each.name(draft.locale) for each in draft.signers if taken[each.first_name] > 1}


@dataclass(frozen=True, eq=False)
class _Told:
    """A place, its row, and what it is called in sentences. ``several``: whether there are several documents."""

    at: Placed
    row: str
    name: str
    several: bool

    def words(self, **more: str) -> dict[str, str]:
        page = str(self.at.page_number)
        if self.several:
            page = _("%(page)s of %(document)s") % {"page": page, "document": self.at.document.name}
        asked = self.at.field or {}
        return {"name": self.name, "field": str(asked.get("label") or asked.get("name") or ""), "page": page, **more}


def _covering(document: Document, stamps: Sequence[_Told], fields: Sequence[_Told]) -> Iterator[Remark]:
    """Yield remarks on what covers words; none while no reader process is free."""
    on_pages = [each for each in (*stamps, *fields) if 1 <= each.at.page_number <= len(document.pages)]
    places = [(each.at.page_number, each.at.x, each.at.y, each.at.width, each.at.height) for each in on_pages]
    try:
        found = covered_words(document, places)
    except DomainError:
        return
    for told, lines in zip(on_pages, found, strict=True):
        if not lines:
            continue
        covers = _("The field “%(field)s” on page %(page)s covers %(words)s.")
        if told.at.field is None:
            covers = _("%(name)s's signature on page %(page)s covers %(words)s.")
        yield Remark(covers % told.words(words=_quoted(lines)), (told.row,))


def _quoted(texts: Sequence[str]) -> str:
    return get_text_list([_("“%(words)s”") % {"words": each} for each in texts], _("and"))


def _overlapping(stamps: Sequence[_Told], fields: Sequence[_Told]) -> Iterator[Remark]:
    of_stamps, of_fields = list(map(_Box.of, stamps)), list(map(_Box.of, fields))
    pairs = (combinations(of_stamps, 2), product(of_fields, of_stamps), combinations(of_fields, 2))
    for one, other in (pair for some in pairs for pair in some if _overlap(pair)):
        yield Remark(_overlap_of(one.told, other.told), (one.told.row, other.told.row))


def _overlap_of(one: _Told, other: _Told) -> str:
    if other.at.field:
        sentence = _("The fields “%(field)s” and “%(other)s” on page %(page)s overlap.")
        return sentence % one.words(other=other.words()["field"])
    if one.at.field:
        sentence = _("The field “%(field)s” and %(other)s's signature on page %(page)s overlap.")
    elif one.at.signer == other.at.signer:
        sentence = _("Two signatures of %(name)s on page %(page)s overlap.")
    else:
        sentence = _("The signatures of %(name)s and %(other)s on page %(page)s overlap.")
    return sentence % one.words(other=other.name)


def _unnamed_options(told: _Told) -> str:
    """Return a sentence on options that are still those of a new field; "" where there are none."""
    asked = told.at.field or {}
    new = KINDS[asked["type"]].content("").get("options", ()) if asked.get("options") else ()
    left = [option for option in asked.get("options", ()) if option in new]
    sentence = _("The field “%(field)s” on page %(page)s still offers %(words)s. Enter the options to choose from.")
    return sentence % told.words(words=_quoted(left)) if left else ""


class _Box(NamedTuple):
    """The sides of a place, computed once, because up to a million pairs are compared."""

    told: _Told
    page: int
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, told: _Told) -> "_Box":
        at = told.at
        return cls(told, at.page_number, at.x, at.y, at.x + at.width, at.y + at.height)


def _overlap(pair: tuple[_Box, _Box]) -> bool:
    (_told, page, left, bottom, right, top), (_other, page2, left2, bottom2, right2, top2) = pair
    return (
        page == page2
        and min(right, right2) - max(left, left2) > _TOUCHING
        and min(top, top2) - max(bottom, bottom2) > _TOUCHING
    )
