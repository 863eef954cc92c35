"""The reference tells of every endpoint of the signer: its methods, its fields and its languages."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from paraph.config.urls import urlpatterns
from paraph.reference.signer_endpoints import signer_paths
from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.marks import Drawn, Typed
from paraph.signer.signature import SignatureBody

PATHS = signer_paths()


def routes() -> set[str]:
    """Those of the URL map, as the reference writes them."""
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


def fields(schema: Any) -> set[str]:
    return set(schema["properties"])


def test_the_body_of_a_signature_is_that_of_the_service() -> None:
    body = PATHS["/sign/{token}/signature"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert fields(body) == set(SignatureBody.model_fields)
    assert set(body["required"]) == {name for name, field in SignatureBody.model_fields.items() if field.is_required()}
    assert fields(body["properties"]["signature"]) == set(Typed.model_fields) | set(Drawn.model_fields)
    assert set(body["properties"]["locale"]["enum"]) == set(LOCALES)


def test_the_example_of_a_signature_is_taken() -> None:
    content = PATHS["/sign/{token}/signature"]["post"]["requestBody"]["content"]["application/json"]
    for example in content["examples"].values():
        SignatureBody.model_validate(example["value"])
