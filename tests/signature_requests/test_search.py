"""Requests are found by what their signers and files are called, and by nothing else."""

from typing import Any

import pytest

from paraph.flow.personal_data.erase import erase_signer
from paraph.signature_requests import search as searching
from paraph.signature_requests.models import SearchTerm, SignatureRequest, Signer
from paraph.signature_requests.search import search
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.scope import TenantScope, scoped
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db


def caller_of(made: Scene, environment: str = "sandbox") -> TenantScope:
    return TenantScope(made.request.organization_id, environment, "pro", None)


def found(made: Scene, text: str, **more: Any) -> list[int]:
    scope = caller_of(made)
    return search(scope, text, scoped(SignatureRequest, scope), 50, None, **more).ids


@pytest.fixture
def made() -> Scene:
    return scene(signers=2)


BEGINNINGS = [
    "Ada", "ada", "lovel", "ADA Lovelace", "lovelace, ada", "emile zola", "ÉMILE", "ada1@example.com", "ada1@ex",
    "example.com", "contract", "contract-1.pdf", "contract ada zola",
]  # fmt: skip


@pytest.mark.parametrize("text", BEGINNINGS)
def test_words_are_found_by_their_beginning(made: Scene, text: str) -> None:
    scene(signer={"first_name": "Ada"})  # of another organization
    assert found(made, text) == [made.request.pk]


@pytest.mark.parametrize(
    ("called", "typed"),
    [
        ("Lindenstraße 12", ["lindenstrasse", "LINDENSTRASSE", "Lindenstraß", "lindenstras"]),
        ("Müller", ["mueller", "muller", "MÜLLER", "mue", "mu"]),
        ("Mueller", ["müller"]),
        ("Ærøskøbing", ["aeroskobing", "ærø", "aeroeskoebing"]),
        ("Łódź", ["lodz"]),
        ("I\u015f\u0131l Şahin", ["isil", "i\u015f\u0131l sahin", "I\u015eIL"]),
        ("Samuel", ["samuel", "samue"]),
    ],
)
def test_words_are_found_as_people_type_them(called: str, typed: list[str]) -> None:
    own = scene(title=called)
    assert [found(own, words) for words in typed] == [[own.request.pk]] * len(typed)


def test_a_title_is_found_and_forgotten_with_what_alone_says_it(made: Scene) -> None:
    titled = scene(title="Lovelace: Lease of the pier", signers=2)
    assert found(titled, "pier") == found(titled, "lease lovelace") == [titled.request.pk]
    SignatureRequest.objects.filter(pk=titled.request.pk).update(title="Pier")
    assert found(titled, "lease") == [] and found(titled, "pier lovelace") == [titled.request.pk]
    Signer.objects.filter(request=titled.request).update(last_name="Pier")
    SignatureRequest.objects.filter(pk=titled.request.pk).update(title="")
    assert found(titled, "pier") == [titled.request.pk], "a signer is called so, too"
    assert found(made, "pier") == []


def test_own_data_are_found_and_forgotten(made: Scene) -> None:
    own = scene(external_id="LEASE-4711", metadata={"street": "Lime Street 4", "unit": ""}, title="Pier")
    assert found(own, "lease-4711") == found(own, "lime pier ada") == [own.request.pk]
    assert found(own, "unit") == found(made, "lime") == []
    SignatureRequest.objects.filter(pk=own.request.pk).update(external_id="", metadata={"street": "Pier Road"})
    assert found(own, "4711") == found(own, "lime") == [] and found(own, "road pier") == [own.request.pk]


@pytest.mark.parametrize("text", ["", " ", "...", "velace", "ada hopper", "%", "_da", "ada2@example.com"])
def test_other_words_find_nothing(made: Scene, text: str) -> None:
    assert found(made, text) == []


def test_the_other_environment_finds_nothing(made: Scene) -> None:
    scope = caller_of(made, "production")
    assert search(scope, "ada", scoped(SignatureRequest, scope), 50, None).ids == []


def test_an_erased_signer_is_not_found_and_the_others_are(made: Scene) -> None:
    Signer.objects.filter(pk=made.signers[1].pk).update(first_name="Ada")
    made.request.status = "expired"
    made.request.save()
    erase_signer(OPERATOR, made.signers[0].pk)
    assert found(made, "lovelace") == found(made, "ada1@example.com") == []
    assert found(made, "ada zola contract") == [made.request.pk]


def test_a_word_of_very_many_requests_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "DEPTH", 3)
    made, ids = scene(), list[int]()
    for number in range(20):
        ids.append(copy(made, "hopper" if number == 2 else "lovelace"))
    scope = caller_of(made)
    rows = scoped(SignatureRequest, scope)
    first = search(scope, "grace", rows, 4, None)
    assert (first.ids, first.looked_until) == (ids[:-5:-1], ids[-4])
    assert search(scope, "grace", rows, 4, ids[-4], rising=True).ids == ids[-3:]
    few = search(scope, "grace", rows.filter(pk=ids[0]), 4, None)
    assert (few.ids, few.looked_until) == ([], ids[-9])  # the next search goes on from there
    assert search(scope, "grace hopper", rows, 4, None).ids == [ids[2]]


def test_a_beginning_of_too_many_words_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_TERMS", 2)
    made = scene(signers=2)
    scope = caller_of(made)
    assert search(scope, "e", scoped(SignatureRequest, scope), 4, None).too_many_words
    assert not search(scope, "lovelace", scoped(SignatureRequest, scope), 4, None).too_many_words


def test_terms_are_kept_once(made: Scene) -> None:
    terms = set(SearchTerm.objects.values_list("term", flat=True))
    words = {"ada", "lovelace", "ada1@example.com", "example.com", "emile", "zola", "émile2@example.com", "contract"}
    assert terms == words | {"1"}


def copy(made: Scene, last_name: str) -> int:
    request = SignatureRequest.objects.get(pk=made.request.pk)
    request.pk = None
    request.save(force_insert=True)
    Signer.objects.create(
        request=request, order=1, token_salt=b"", first_name="Grace", last_name=last_name, email="g@example.org"
    )
    return request.pk
