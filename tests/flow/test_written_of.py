"""What drafts and templates say of a person who need not sign them is found and taken away, and nothing else."""

from typing import Any
from urllib.parse import quote

import pytest

from paraph.drafts.models import Draft
from paraph.drafts.payload import refusals
from paraph.flow.ending.end_early import end_early
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.flow.personal_data.place import Person, names_person
from paraph.request_templates.models import Template
from paraph.signature_requests.models import Signer
from paraph.tenants.admin_log import OPERATOR
from tests.drafts.author import author
from tests.request_templates.kept import template_of
from tests.request_templates.test_saving import begun

ADA = Person(frozenset({"ada@example.com", "+33612345678"}), "Ada", "Lovelace")
TEXTS = {
    "ada@example.com": True,
    "Dear ADA@example.com, please": True,
    "<ada@example.com>": True,
    f"https://example.com/?who={quote('ada@example.com')}&x=1": True,
    "https://example.com/ada@example.com/hook": True,
    "mailto:ada@example.com": True,
    "call +33 6 12 34 56 78 please": True,
    "Lovelace, Ada": True,
    "ada_lovelace? no: ada lovelace!": True,
    "bada@example.com": False,
    "ada@example.com.au": False,
    "ada@example.community": False,
    "+336123456789": False,
    "Ada Byron": False,
    "Canada, Lovelaceville": False,
    "": False,
}


@pytest.mark.parametrize(("text", "names"), TEXTS.items())
def test_a_text_names_somebody_as_a_whole(text: str, names: bool) -> None:
    assert names_person(ADA, text) is names


@pytest.mark.django_db
def test_a_template_is_as_useful_as_before_without_what_names_the_person() -> None:
    charles, stranger = author(), author()
    template, foreign = template_of(charles), template_of(stranger)
    content: dict[str, Any] = {"name": "landlord", "type": "text", "label": "Ada Lovelace", "value": "Ada Lovelace"}
    value = {"page_number": 1, "x": 40, "y": 40, "width": 160, "height": 18}
    place = {"placement": {"type": "coordinates", "value": value}}
    for each in (template, foreign):
        each.request["documents"][0]["signers"][0]["fields"] = [content | place]
        each.save()
        more = {"decline_allowed": True, "metadata": {"landlord": "Ada Lovelace", "street": "Ada Lane"}}
        Template.objects.filter(pk=each.pk).update(name="Lease of Ada Lovelace", more_options=more)
    request_id = charles.send(charles.draft())
    end_early(OPERATOR, request_id, "over")
    erase_signer(OPERATOR, Signer.objects.get(request=request_id).pk)
    template.refresh_from_db()
    foreign.refresh_from_db()
    assert template.name == "erased" and foreign.name == "Lease of Ada Lovelace", "a namesake, elsewhere"
    assert template.more_options == {"decline_allowed": True, "metadata": {"street": "Ada Lane"}}
    [field], [elsewhere] = (each.fields_of(each.roles[0]) for each in (template, foreign))
    assert field == {"name": "landlord", "type": "text"} | place and elsewhere == content | place
    assert refusals(charles.scope, begun(charles, template)) == []


@pytest.mark.django_db
def test_an_address_goes_from_all_organizations_and_its_own_draft_stays_open() -> None:
    charles, stranger = author(), author()
    drafts = [each.draft() for each in (charles, stranger)]
    for draft in drafts:
        draft.subject, draft.more_options = (
            "For grace@example.com",
            {"external_id": "grace@example.com", "send_email": True},
        )
        draft.save()
    changed = erase_address(OPERATOR, "grace@example.com").organization_ids
    assert changed == sorted(each.scope.organization_id for each in (charles, stranger))
    for draft in drafts:
        draft.refresh_from_db()
        assert (draft.subject, draft.more_options) == ("", {"send_email": True})
        assert draft.signers.get().email == "ada@example.com"
    assert erase_address(OPERATOR, "grace@example.com").organization_ids == []


@pytest.mark.django_db
def test_each_of_many_texts_that_name_the_person_is_shown() -> None:
    charles = author()
    for number in range(60):
        Draft.objects.create(organization_id=charles.scope.organization_id, title=f"{number}: ada@example.com")
    titles = [each.facts["title"] for each in show_person("ada@example.com")]
    assert titles == [f"{number}: ada@example.com" for number in range(60)]
