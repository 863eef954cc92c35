"""The content of drafts and templates: the JSON of a creation (rule 4.5), of which a draft may lack anything.

Signers are known by refs that stay when others come and go, and approvers are on all documents without being listed. In
a template a signer is a role, and has a ``name`` in place of a person's. Stamps and fields of a draft stand at
coordinates; those of a template as they were given, and where that is not the whole rectangle, ``at`` is it: None for
an optional stamp whose tag is nowhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from secrets import randbelow
from typing import Any

from paraph.drafts.models import Json
from paraph.signature_requests.input import OPTIONS, PERSON, TAKING_PART, SignatureRequestInput
from paraph.signature_requests.models import Channel, Role

_OF_SIGNERS = (*PERSON, *TAKING_PART)


def signer_of(known: Mapping[str, Any], ref: str = "") -> Json:
    """Return a signer with what is known of them; with a new ref unless one is given: one that no signer has or had, as
    addresses of their pictures, which browsers keep, name it."""
    given = {name: known[name] for name in _OF_SIGNERS if known.get(name)}
    return {"ref": ref or str(1 + randbelow(10**12)), "otp_channel": Channel.EMAIL.value, **given}


def options_of(checked: SignatureRequestInput) -> Json:
    """Return the options that were given. That signers are identified, who sends declares."""
    given: Json = checked.model_dump(mode="json", include=set(OPTIONS), exclude_unset=True, exclude_none=True)
    given.pop("identity_declaration_accepted", None)
    return given


def creation_of(content: Json) -> Json:
    """Return the creation by which a member sends the content.

    Its refs name signers to members: with the number, because two may have one name. Mails are sent unless the
    application that prepared it all wants none, so the member declares with sending that the signers are identified.
    """
    refs, signers = {}, []
    for number, signer in enumerate(content["signers"], start=1):
        known = dict(signer)
        name = known.pop("name", "") or f"{known.get('first_name', '')} {known.get('last_name', '')}"
        refs[signer["ref"]] = f"{number}. {name}"[:200]
        signers.append({**known, "ref": refs[signer["ref"]], "order": number})
    documents = [
        {"id": each["id"], "signers": list(_assignments(each, content["signers"], refs))}
        for each in content["documents"]
    ]
    own = {"identity_declaration_accepted": True, "signers": signers, "documents": documents}
    return {"send_email": True, **content, **own}


def _assignments(document: Json, signers: Sequence[Json], refs: Mapping[str, str]) -> Iterator[Json]:
    listed = {each["signer_ref"]: placed(each) for each in document["signers"]}
    for signer in signers:
        own = listed.get(signer["ref"], {})
        if signer.get("role") == Role.APPROVER:
            yield {"signer_ref": refs[signer["ref"]]}
        elif own.get("stamps") or own.get("fields"):
            yield own | {"signer_ref": refs[signer["ref"]]}


def placed(assignment: Json) -> Json:
    """Return the assignment with all stamps, page by page, and fields at coordinates."""
    stamps = [_at(each["value"], each) for each in assignment.get("stamps", ())]
    fields = [
        {name: part for name, part in each.items() if name != "at"}
        | {"placement": _at(each["placement"]["value"], each)}
        for each in assignment.get("fields", ())
    ]
    there = sorted((stamp for stamp in stamps if stamp["value"]), key=lambda each: int(each["value"]["page_number"]))
    return {"signer_ref": assignment["signer_ref"], "stamps": there, "fields": fields}


def _at(given: Json, entry: Json) -> Json:
    return {"type": "coordinates", "value": entry.get("at", given)}
