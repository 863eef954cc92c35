"""What is kept of a person who signs nothing: as somebody who gets copies or was taken for a signer, under addresses
and numbers of signers that were corrected since (and may be somebody else's), in rows of bulk sends and drafts that
were never sent, in the captured inbox, among the addresses that a sandbox may write to, and in what organizations wrote
into drafts and templates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from paraph.audit_trail.journal import ERASED, EntryAbout, entries_about, erase_values
from paraph.audit_trail.models import Entry
from paraph.drafts.models import Draft
from paraph.flow.events import lock_request
from paraph.flow.personal_data.of_signer import erase_own_data, words_naming
from paraph.flow.personal_data.place import (
    SHOW_CAPTURED,
    Facts,
    Person,
    Place,
    among,
    delete_rows,
    has_address,
    has_name,
    names_person,
    naming,
    pseudonym,
    rewrite_recorded,
    showing,
    with_address,
)
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.request_templates.models import BulkRow, BulkSend, RowState, Template
from paraph.signature_requests.input import PERSON
from paraph.signature_requests.links import new_salt
from paraph.signature_requests.models import ERASED_DOMAIN, CopyRecipient, RequestStatus, SearchTerm
from paraph.tenants.models import ConfirmedAddress


@transaction.atomic
def erase_unsent(person: Person) -> set[int]:
    """Erase what names the person in :data:`UNSENT`; captured messages to the person go whoever sent them. Return the
    ids of the organizations whose data changed. A row goes with all its people, and is never sent. Safe to repeat."""
    changed: set[int] = set()
    for place in UNSENT:
        found = defaultdict[int, list[Any]](list)  # 0 for what belongs to no organization
        for row in place.find(person):
            found[place.describe(row).get("organization_id", 0)].append(row)
        changed |= {number for number, rows in found.items() if place.erase and place.erase(person, rows)}
    return changed - {0}


def erase_copies(_person: object, found: Sequence[CopyRecipient]) -> int:
    """Put pseudonyms in the place of these people, also in the journal, and end their links by a new salt; nothing is
    mailed to them any more. Erase the texts of the request that name them, too. Call it in a transaction."""
    for recipient in found:
        recipient.request = lock_request(recipient.request_id)
        if words_naming(recipient):
            erase_own_data(recipient, [recipient])
        pseudonym = f"copy-{recipient.pk}{ERASED_DOMAIN}"
        entries = entries_about({recipient.request_id}, (), {recipient.email})
        about_copies = [each for each in entries if each.entry.metadata.get("copies")]  # the others are a signer's
        erase_values(about_copies, {(recipient.request_id, recipient.email): pseudonym})
        instead = {"first_name": "Erased", "last_name": f"copy {recipient.pk}", "email": pseudonym}
        CopyRecipient.objects.filter(pk=recipient.pk).update(token_salt=new_salt(), undelivered=None, **instead)
    return len(found)


def _rows(person: Person) -> Iterator[BulkRow]:
    """Yield the rows about the person: one that could be sent to another address is about a namesake."""
    unsent = BulkRow.objects.exclude(state=RowState.SENT).filter(**person.of("bulk_send__organization"))
    for row in unsent.select_related("bulk_send").order_by("bulk_send", "number").iterator():
        if has_address(person, row.cells) or (row.state == RowState.WRONG and has_name(person, row.cells)):
            yield row


def _empty_rows(_person: Person, found: Sequence[BulkRow]) -> int:
    """Lock each bulk send, as sending does: a row that was sent meanwhile is a request, and stays as it is."""
    emptied, bulk_sends = 0, BulkSend.objects.filter(pk__in=[row.bulk_send_id for row in found])
    for bulk_send in bulk_sends.order_by("pk").select_for_update(no_key=True):
        with translation.override(bulk_send.language):
            sentence = _("Personal data in this row were erased.")
        rows = bulk_send.rows.filter(pk__in=[row.pk for row in found]).exclude(state=RowState.SENT)
        emptied += rows.update(state=RowState.WRONG, cells=[], signers=[], problems=[sentence])
    return emptied


class Found(NamedTuple):
    """The part of a draft or template that is about a person: signer, role, copies, or the texts that name them by the
    path to each."""

    row: Any
    part: Any


def _locked(found: Iterable[Found]) -> Iterator[Found]:
    """Yield each again, with its row locked and as it is now; leave out rows that were deleted meanwhile."""
    for row, part in found:
        yield from (Found(now, part) for now in type(row).objects.select_for_update(no_key=True).filter(pk=row.pk))


def _draft_signers(person: Person) -> Iterator[Found]:
    for draft in Draft.objects.filter(**person.of("organization")).order_by("pk").iterator():
        for signer in draft.signers:
            entered = [signer.first_name, signer.last_name, signer.email, signer.phone]
            if has_address(person, entered) or ("@" not in signer.email and has_name(person, entered)):
                yield Found(draft, signer)


def _fixed_people(person: Person) -> Iterator[Found]:
    """Yield those who always sign in a role of a template."""
    for template in Template.objects.filter(**person.of("organization")).order_by("pk").iterator():
        yield from (Found(template, role) for role in template.roles if has_address(person, role.person.values()))


@transaction.atomic
def erase_people_of(template: Template, words: QuerySet[SearchTerm]) -> int:
    """Erase those who always sign in a role of the template and whose address is none of these words, with whatever
    else in the template names them; return how many."""
    fixed = [role for role in template.roles if role.person]
    gone = [role for role in fixed if not words.filter(term=role.person["email"].lower()[:100]).exists()]
    for role in gone:
        addresses = {role.person["email"], role.person.get("phone", "")} - {""}
        names = role.person["first_name"], role.person["last_name"]
        person = Person(frozenset(addresses), *names, organization_id=template.organization_id)
        _erase_fixed_people(person, [Found(template, role)])
        _erase_words(person, [Found(template, {})])
    return len(gone)


def _erase_fixed_people(person: Person, found: Sequence[Found]) -> int:
    """Empty their roles: the next sender names somebody else. Rows that were checked with the person are not sent."""
    for template, _role in _locked(found):
        for role in template.roles:
            if has_address(person, role.person.values()):
                for name in PERSON:
                    template.content["signers"][role.position].pop(name, None)
        template.changed_at = clock.now()
        template.save(update_fields=["content", "changed_at"])
    return len(found)


def _noted(draft: Draft) -> dict[str, str]:
    """Return the texts in which an application may name people."""
    names = ("external_id", "redirect_url", "callback_url")
    return {name: draft.content[name] for name in names if name in draft.content}


def _erase_draft_signers(_person: Person, found: Sequence[Found]) -> int:
    """Erase the signers, and what the application that prepared the draft noted, where it names them."""
    for draft, signer in _locked(found):
        if draft.content:
            for name in naming(signer, _noted(draft)):
                del draft.content[name]
            metadata = draft.content.get("metadata", {})
            metadata |= dict.fromkeys(naming(signer, metadata), "")
            draft.content["signers"] = [each for each in draft.content["signers"] if each["ref"] != signer.ref]
            for document in draft.content["documents"]:
                document["signers"] = [each for each in document["signers"] if each["signer_ref"] != signer.ref]
            draft.save(update_fields=["content"])
    return len(found)


def _unsent_copies(person: Person) -> Iterator[Found]:
    for model in (Draft, Template):
        rows = model.objects.filter(content__has_key="copies", **person.of("organization")).order_by("pk")
        for row in rows.iterator():
            if named := [each for each in row.content["copies"] if has_address(person, each.values())]:
                yield Found(row, named)


def _describe_copies(found: Found) -> Facts:
    changed = {"changed_at": found.row.updated_at} if isinstance(found.row, Draft) else {}
    return {type(found.row).__name__.lower(): found.row.pk, "copies": found.part, **changed}


def _erase_unsent_copies(person: Person, found: Sequence[Found]) -> int:
    for row, _part in _locked(found):
        if "copies" in row.content:
            row.content["copies"] = [each for each in row.content["copies"] if not has_address(person, each.values())]
            row.save(update_fields=["content"])
    return len(found)


_COLUMNS: dict[Any, tuple[str, ...]] = {
    Draft: ("title", "subject", "message"),
    Template: ("name", "subject", "message"),
}
_ELSEWHERE = {Draft: ("copies", "signers"), Template: ("copies",)}
"""Parts of the content that are places of their own."""


def _words(person: Person) -> Iterator[Found]:
    for model, names in _COLUMNS.items():
        rows = model.objects.filter(**person.of("organization")).order_by("pk")
        for row in rows.only("organization_id", "content", *names).iterator():
            texts = _texts("", {name: getattr(row, name) for name in names} | {"content": _rest(row)})
            if found := {path: text for path, text in texts if names_person(person, text)}:
                yield Found(row, found)


def _rest(row: Draft | Template) -> dict[str, Any]:
    return {name: part for name, part in row.content.items() if name not in _ELSEWHERE[type(row)]}


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(f"{path}.{key}".removeprefix("."), each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(f"{path}[{number}]", each)


def _erase_words(person: Person, found: Sequence[Found]) -> int:
    """Remove the texts that name the person, each with its key; "erased" replaces a text that must not be empty."""
    for row, _part in _locked(found):
        names = _COLUMNS[type(row)]
        for name in names:
            setattr(row, name, _without(person, getattr(row, name), name))
        rest = _rest(row)
        row.content = {name: part for name, part in row.content.items() if name not in rest} | _without(person, rest)
        row.save(update_fields=[*names, "content"])
    return len(found)


def _without(person: Person, value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        instead = ERASED if name == "name" else ""  # a field needs a name
        return instead if names_person(person, value) else value
    if isinstance(value, list):
        return [_without(person, each, "name") for each in value]
    if isinstance(value, dict):
        left = {key: _without(person, each, key) for key, each in value.items()}
        return {key: each for key, each in left.items() if each != "" or value[key] == ""}
    return value


def _earlier_entries(person: Person) -> Iterator[EntryAbout]:
    """Yield the journal's entries about messages to the person in the place of a signer who was corrected since."""
    sent = Entry.objects.filter(among(person, "metadata__recipient"), signer__replaced_links__gt=0)
    sent = sent.filter(**person.of("organization")).exclude(
        among(person, "signer__email") | among(person, "signer__phone")
    )
    addresses = {address.casefold() for address in person.addresses}
    for request_id, signer_id in sent.order_by("request", "signer").values_list("request", "signer").distinct():
        for found in entries_about({request_id}, {signer_id}, ()):
            if found.values and str(found.entry.metadata.get("recipient", "")).casefold() in addresses:
                yield found


def _erase_earlier(person: Person, found: Sequence[EntryAbout]) -> int:
    """Erase the values in the journal, and the address in events and recorded webhooks. A request that still lacks its
    proof keeps both until it has one, as the proof states all salts."""
    erased, addresses = 0, {address.casefold() for address in person.addresses}
    for each in found:
        request, signer = lock_request(each.entry.request_id), each.entry.signer
        if signer is None or (request.status != RequestStatus.EXPIRED and not request.finalized):
            continue
        named = pseudonym(signer)
        erase_values([each], {(request.pk, each.entry.metadata["recipient"]): named})

        def anonymize(content: Facts, named: str = named) -> None:
            if content.get("signer", {}).get("email", "").casefold() in addresses:
                content["signer"]["email"] = named

        rewrite_recorded(request, anonymize)
        erased += 1
    return erased


UNSENT: tuple[Place[Person, Any], ...] = (
    Place(
        "captured messages",
        "messaging_capturedmessage: to subject text html",
        with_address(CapturedMessage, "to"),  # a message that a gateway took is not kept
        SHOW_CAPTURED,
        delete_rows,
    ),
    Place(
        "copies",
        "signature_requests_copyrecipient: first_name last_name email undelivered; journal_entry: metadata",
        with_address(CopyRecipient, "email", "request__organization"),
        showing(
            "request.organization_id request.environment request=request_id first_name last_name email "
            "mailed_at=notified_at undelivered",
            words_naming,
        ),
        erase_copies,
    ),
    Place(
        "earlier addresses of signers",
        "journal_entry: ip user_agent metadata; webhooks_event: payload; webhooks_delivery: payload",
        _earlier_entries,
        showing(
            "entry.organization_id entry.environment request=entry.request_id event=entry.event_type "
            "at=entry.created_at",
            lambda found: {path.removeprefix("metadata/"): value for path, value in found.values.items()},
        ),
        _erase_earlier,
    ),
    Place(
        "rows of bulk sends",
        "request_templates_bulkrow: cells signers problems",
        _rows,
        showing(
            "bulk_send.organization_id bulk_send.environment file=bulk_send.file_name line=number cells "
            "uploaded_at=bulk_send.created_at"
        ),
        _empty_rows,
    ),
    Place(
        "drafts",
        "drafts_draft: content",
        _draft_signers,
        showing(
            "row.organization_id row.environment draft=row.pk",
            "part.first_name part.last_name part.email part.phone",
            lambda each: _noted(each.row) | {"metadata": each.row.content.get("metadata", {})},
            "changed_at=row.updated_at",
        ),
        _erase_draft_signers,
    ),
    Place(
        "people of templates",
        "request_templates_template: content",
        _fixed_people,
        showing(
            "row.organization_id row.environment template=row.pk",
            lambda each: {"role": each.part.name, **each.part.person},
        ),
        _erase_fixed_people,
    ),
    Place(
        "copies in drafts and templates",
        "drafts_draft: content; request_templates_template: content",
        _unsent_copies,
        showing("row.organization_id row.environment", _describe_copies),
        _erase_unsent_copies,
    ),
    Place(
        "words in drafts and templates",
        "drafts_draft: title subject message content; request_templates_template: name subject message content",
        _words,
        showing("row.organization_id", lambda each: {"kind": type(each.row).__name__, "id": each.row.pk, **each.part}),
        _erase_words,
    ),
    Place(
        "confirmed addresses",
        "organizations_confirmedaddress: address",
        with_address(ConfirmedAddress, "address", "organization"),
        showing("organization_id address asked_at confirmed_at"),
        delete_rows,
    ),
)
