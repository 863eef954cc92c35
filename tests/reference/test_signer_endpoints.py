"""The reference tells of every endpoint of the signer: its methods, its fields and its languages."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern
from jsonschema_rs import Draft202012Validator

from paraph.config.urls import urlpatterns
from paraph.signer.described import signer_paths
from paraph.signer.signature import SignatureBody
from paraph.words import LOCALES
from tests.api.v1.contract import closed

PATHS = signer_paths()


def routes() -> set[str]:
    """Return the signer's routes in the URL map, as the reference writes them."""
    found = {str(each.pattern) for each in urlpatterns if isinstance(each, URLPattern)}
    return {"/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", each) for each in found if each.startswith("sign/")}


def test_every_route_is_there_and_no_other() -> None:
    assert set(PATHS) == routes()


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_it_answers_the_methods_that_are_told_and_no_others(client: Client, path: str) -> None:
    address = path.format(token="nobody", document_id=1, number=1, zoom=150, part=1, locale="en")
    for method in ("get", "post", "put", "delete"):
        status = client.generic(method.upper(), address, b"{}", "application/json").status_code
        assert (status != 405) == (method in PATHS[path]), method


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every body and answer that is JSON or a form, each after the name of its operation."""
    for methods in PATHS.values():
        for operation in methods.values():
            for part in (operation.get("requestBody", {}), *operation["responses"].values()):
                for content in part.get("content", {}).values():
                    if content:
                        yield operation["operationId"], content


def test_every_example_is_of_its_model_and_names_no_other_field() -> None:
    names = []
    for name, content in contents():
        for example in content["examples"].values():
            Draft202012Validator(closed(content["schema"])).validate(example["value"])
            names.append(name)
    assert len(names) == 15


def test_every_field_is_described() -> None:
    for name, content in contents():
        for field, facts in content["schema"]["properties"].items():
            assert facts.get("description"), (name, field)


def test_the_body_of_a_signature_is_that_of_the_service() -> None:
    body = PATHS["/sign/{token}/signature"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["properties"]) == set(SignatureBody.model_fields)
    assert body["required"] == ["code", "consent"]
    kinds = [each["properties"]["type"]["const"] for each in body["properties"]["signature"]["oneOf"]]
    assert kinds == ["typed", "drawn"]
    assert body["properties"]["locale"]["enum"] == list(LOCALES)
