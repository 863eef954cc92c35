"""Unknown fields and parameters are ignored, but refused where they misspell a known one."""

from typing import Any

from paraph.kernel.spelling import nearest
from paraph.signature_requests.models import SignatureRequest
from tests.api.v1.api_clients import ApiClient, api_client, invalid, payload
from tests.api.v1.test_preview import preview

MISSPELT = [
    ((), "send_mail", "send_email"),
    ((), "sendEmail", "send_email"),
    ((), "validty_day", "validity_days"),
    ((), "redirect_ulr", "redirect_url"),
    (("signers", 0), "firstname", "first_name"),
    (("signers", 0), "mail", "email"),
    (("signers", 0), "rol", "role"),
    (("documents", 0), "ids", "id"),
    (("documents", 0, "signers", 0), "signer_reff", "signer_ref"),
    (("documents", 0, "signers", 0, "stamps", 0), "optionnal", "optional"),
    (("documents", 0, "signers", 0, "stamps", 0, "value"), "page_numbr", "page_number"),
]
UNKNOWN = [
    ((), "note"),
    (("signers", 0), "note"),
    (("signers", 0), "n"),
    (("documents", 0), "comment"),
    (("documents", 0, "signers", 0, "stamps", 0), "colour"),
    ((), "x" * 300),
    ((), ""),
    ((), "a\ud800b"),
]


def with_field(content: dict[str, Any], place: tuple[str | int, ...], name: str) -> str:
    """Add the field, and return its path."""
    holder: Any = content
    path = ""
    for step in place:
        holder = holder[step]
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    holder[name] = "x"
    return f"{path}.{name}".removeprefix(".")


def test_misspelt_fields_are_refused_and_all_named_beside_other_problems(owner: ApiClient) -> None:
    content = payload(owner.document(), validity_days=0)
    wanted = {"validity_days": "it must be from 1 to 90, not 0."}
    for place, name, meant in MISSPELT:
        wanted[with_field(content, place, name)] = f"there is no such field here; did you mean {meant}?"
    assert {each["path"]: each["message"] for each in preview(owner, content)["problems"]} == wanted
    told = invalid(owner.create(content))
    assert all(f"{path}: {sentence}" in told for path, sentence in wanted.items())


def test_other_unknown_fields_are_ignored_and_a_preview_names_them(owner: ApiClient) -> None:
    content = payload(owner.document()) | {"metadata": {"send_mail": "x", "note": "y"}}  # whose keys are no fields
    assert "warnings" not in preview(owner, content)
    paths = [with_field(content, place, name)[:200].replace("\ud800", "?") for place, name in UNKNOWN]
    found = preview(owner, content)
    assert found["valid"] and sorted(each["path"] for each in found["warnings"]) == sorted(paths)
    assert {each["message"] for each in found["warnings"]} == {"there is no such field here; it is ignored."}
    assert owner.create(content).status_code == 201


def test_a_flood_of_unknown_fields_takes_no_time(owner: ApiClient) -> None:
    content = payload(owner.document()) | {f"send_nothing_{number}": 1 for number in range(100_000)}
    assert len(preview(owner, content)["warnings"]) == 50


def test_a_field_beside_its_place_is_refused(owner: ApiClient) -> None:
    cases: list[tuple[str, str]] = [
        ("send_email", "it belongs within signature_request."),
        ("sendEmail", "it belongs within signature_request."),
        ("signature_reqest", "there is no such field here; did you mean signature_request?"),
    ]
    for name, sentence in cases:
        content = {"signature_request": payload(owner.document()), name: True}
        assert invalid(owner.post("/signature_requests", content)) == f"{name}: {sentence}"
        assert owner.post("/signature_requests/preview", content).json()["problems"] == [
            {"path": name, "code": "validation_error", "message": sentence}
        ]
        assert not SignatureRequest.objects.exists()


def test_others_beside_it_are_ignored_and_a_preview_names_them(owner: ApiClient) -> None:
    content = {"signature_request": payload(owner.document()), "note": 1, "a\ud800b": 2}
    found = owner.post("/signature_requests/preview", content).json()
    sentence = "there is no such field beside signature_request; it is ignored."
    assert found["valid"]
    assert found["warnings"] == [{"path": path, "message": sentence} for path in ("note", "a?b")]
    assert owner.post("/signature_requests", content).status_code == 201


def test_nothing_stands_beside_what_is_closed(owner: ApiClient) -> None:
    refused = owner.post("/templates", {"template": {}, "note": 1, "roles": []})
    told = invalid(refused)
    assert told == "note: there is no such field here. roles: it belongs within template."
    drafting = api_client("pro", "production")
    told = invalid(drafting.post("/drafts", {"signature_request": {}, "note": 1}))
    assert told == "note: there is no such field here."


def test_misspelt_parameters_are_refused_and_others_ignored(owner: ApiClient) -> None:
    told = invalid(owner.get("/signature_requests", pagee=2, staus="completed", colour="red"))
    assert told == "There is no parameter pagee; did you mean page? There is no parameter staus; did you mean status?"
    assert owner.get("/signature_requests", colour="red", utm_source="x").status_code == 200
    assert owner.get("/documents", external_id="7").status_code == 200
    assert "did you mean text?" in invalid(owner.get(f"/documents/{owner.document()}/tags", txt="a"))


def test_how_near_a_name_is() -> None:
    names = {"role": "role", "ROLE": "role", "roel": "role", "rules": "", "i": "", "id": "id", "": "", "é" * 70: ""}
    assert {name: nearest(name, ("role", "id", "send_email")) for name in names} == names
