"""Exports of an activity log: every byte of one is bound, or the export is not valid."""

import contextlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from click.testing import CliRunner
from django.db import connection

from paraph.cli.activity import command as activity
from paraph.cli.verify import command as verify
from paraph.kernel import clock
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import OPERATOR
from paraph.tenants.admin_log.chain import GENESIS, entry_hash
from paraph.tenants.admin_log.export import exported
from paraph.tenants.admin_log.log import note
from paraph.tenants.admin_log.read_export import check_export, is_export
from paraph.tenants.models import Organization
from tests.tenancy import create_organization

AFTER = {
    "name": "Façade & Söhne",
    "retention_days": 30,
    "on": True,
    "nothing": None,
    "list": [1, 2.5, {"b": "", "aa": 1}],
}


@pytest.fixture
def organization(db: None) -> Organization:
    return create_organization("Büro & Söhne", "free")


@pytest.fixture
def export(organization: Organization) -> bytes:
    """One of this version."""
    note(organization.pk, OPERATOR, Action.ORGANIZATION_CREATED, organization.name, after={"plan": "free"})
    note(organization.pk, OPERATOR, Action.RETENTION_SET, "1", before={"days": 1}, after=AFTER)
    note(organization.pk, OPERATOR, Action.KEY_REVOKED, "2")
    return b"".join(exported(note(organization.pk, OPERATOR, Action.ACTIVITY_EXPORTED, organization.name)))


def chained(*facts: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for position, each in enumerate(facts, start=1):
        entry = {
            "organization_id": 7, "position": position, "actor_kind": "member", "actor_id": 3, "actor": "a@example.com",
            "ip": "203.0.113.9", "action": "key.revoked", "subject": "", "before": {}, "after": {},
            "created_at": f"2026-01-02T03:04:0{position}.500Z",
            "previous_hash": entries[-1]["hash"] if entries else GENESIS.hex(), **each,
        }  # fmt: skip
        entries.append({**entry, "hash": entry_hash(entry).hex()})
    return entries


def written(entries: list[dict[str, Any]], **head: Any) -> bytes:
    """As exports are written."""
    whole = {"format": "paraph-activity/1", "organization_id": 7, "organization": "Acme", "at": "2026-01-02T03:04:03Z"}
    beginning = json.dumps(whole | head, ensure_ascii=False)[:-1] + ', "entries": ['
    return (beginning + ",".join("\n" + json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]}\n").encode()


NAMED = [
    {"action": "organization.created", "subject": "Acme"},
    {},
    {"action": "activity.exported", "subject": "Acme"},
]


@pytest.mark.django_db
def test_an_export_is_valid_to_the_last_byte(export: bytes, tmp_path: Path) -> None:
    assert is_export(export)
    check = check_export(export)
    assert check.ok and check.entries == 4 and check == check_export(BytesIO(export))
    (tmp_path / "export.json").write_bytes(export)
    said = CliRunner().invoke(activity, ["verify", str(tmp_path / "export.json")])
    assert said.exit_code == 0 and "4 entries follow from each other." in said.output
    asked = CliRunner().invoke(verify, [str(tmp_path / "export.json"), "--data-dir", str(tmp_path)])
    assert asked.exit_code == 1  # nobody sealed it


def pdf_on_one_line(start: int = 0) -> str:
    """A PDF without streams and line breaks, which can be a name; it stands at byte ``start`` of a file."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/DR<</Font<</F1 5 0 R>>>>>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[4 0 R]>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/F 4/V(9,000,000)/DA(/F1 24 Tf 0 g)/Rect[50 600 550 700]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    text, lines = "%PDF-1.4 ", ["0000000000 65535 f  "]
    for number, each in enumerate(objects, start=1):
        lines.append(f"{start + len(text):010} 00000 n  ")
        text += f"{number} 0 obj {each} endobj "
    end = start + len(text)
    return f"{text}xref 0 6 {''.join(lines)}trailer <</Root 1 0 R/Size 6>> startxref {end} %%EOF"


def pages_to_pdfium(content: bytes) -> int:
    try:
        with contextlib.closing(pypdfium2.PdfDocument(content)) as document:
            return len(document)
    except pypdfium2.PdfiumError:
        return 0


def test_an_export_that_readers_take_for_a_pdf_is_not_valid() -> None:
    """Anybody can make a chain of entries, so one may not vouch for pages."""
    pdf = pdf_on_one_line()
    export = written(
        chained({"action": "activity.exported", "subject": pdf}), organization=pdf, at="2026-01-02T03:04:01Z"
    )
    assert is_export(export) and pages_to_pdfium(export) == 1
    assert not check_export(export).ok


@pytest.mark.django_db
def test_no_export_is_a_pdf(organization: Organization) -> None:
    """Whatever names are in it: the word with which objects begin is escaped, and what is escaped is read as it was."""
    after = {"obj": "\\obj", "name": pdf_on_one_line()}
    note(organization.pk, OPERATOR, Action.ORGANIZATION_CREATED, "1 0 obj", after=after)
    content = b"".join(exported(note(organization.pk, OPERATOR, Action.ACTIVITY_EXPORTED, "obj")))
    assert check_export(content).ok and b"obj" not in content
    assert json.loads(content)["organization"] == "obj" and json.loads(content)["entries"][-2]["after"] == after


def changed(value: Any) -> Iterator[Any]:
    """Other values than this one."""
    if isinstance(value, bool):
        yield from (not value, int(value))
    elif isinstance(value, int | float):
        yield from (value + 1, -value - 1, float(value) if isinstance(value, int) else int(value), str(value), True)
    elif isinstance(value, str):
        yield from (value + " ", value + "x", value.upper() + "Y", "", None) if value else ("x", None)
    elif value is None:
        yield from (0, "", False)
    elif isinstance(value, dict):
        yield from ({**value, "more": 1}, dict(reversed({**value, "z": 1}.items())), [])
    elif isinstance(value, list):
        yield from ([*value, 1], value[::-1], {})


def altered(value: Any, put: Callable[[Any], Any]) -> Iterator[Any]:
    """The whole with each value within ``value`` changed, each key renamed, left out or moved. ``put`` puts another
    value in the place of this one."""
    yield from (put(other) for other in changed(value))
    if isinstance(value, dict):
        for key in value:
            yield put({name: each for name, each in value.items() if name != key})
            yield put({(name + "_" if name == key else name): each for name, each in value.items()})
            yield put({**{name: each for name, each in value.items() if name != key}, key: value[key]})
            yield from altered(value[key], partial(_with_value, put, value, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield put([*value[:index], *value[index + 1 :]])
            yield put([*value[:index], item, *value[index:]])
            yield from altered(item, partial(_with_item, put, value, index))


def _with_value(put: Callable[[Any], Any], whole: dict[str, Any], key: str, other: Any) -> Any:
    return put({**whole, key: other})


def _with_item(put: Callable[[Any], Any], whole: list[Any], index: int, other: Any) -> Any:
    return put([*whole[:index], other, *whole[index + 1 :]])


def as_written(whole: Any) -> bytes:
    """The altered export in the form of exports, as far as it still can have it."""
    if isinstance(whole, dict) and list(whole)[-1:] == ["entries"] and isinstance(whole["entries"], list):
        head = {name: value for name, value in whole.items() if name != "entries"}
        lines = ",".join("\n" + json.dumps(entry, ensure_ascii=False) for entry in whole["entries"])
        return (json.dumps(head, ensure_ascii=False)[:-1] + f', "entries": [{lines}\n]}}\n').encode()
    return json.dumps(whole, ensure_ascii=False).encode() + b"\n"


@pytest.mark.django_db
def test_whatever_is_altered_in_an_export_is_noticed(export: bytes) -> None:
    assert as_written(json.loads(export)) == export
    variants = [as_written(whole) for whole in altered(json.loads(export), lambda other: other)]
    others = [variant for variant in variants if variant != export]
    assert len(others) > 500
    assert [variant for variant in others if check_export(variant).ok] == []


@pytest.mark.django_db
def test_no_byte_can_be_taken_out_doubled_or_put_in(export: bytes) -> None:
    def variants() -> Iterator[bytes]:
        for place in range(len(export)):
            yield export[:place] + export[place + 1 :]
            for inserted in (b" ", b"\n", b"0", b'"', b",", b"\x00", export[place : place + 1]):
                yield export[:place] + inserted + export[place:]
        yield from (export + tail for tail in (b" ", b"\n", b"{}", export, b"\x00", b"]}\n"))
        yield from (b"\xef\xbb\xbf" + export, b"\n" + export, export[:-1], export.replace(b"\n", b"\r\n"))

    assert [variant for variant in variants() if variant != export and check_export(variant).ok] == []


FORMS: dict[str, tuple[bytes, bytes]] = {
    "a key twice, first": (b'"position": 1,', b'"position": 9, "position": 1,'),
    "a key twice, last": (b'"subject": "Acme",', b'"subject": "Evil", "subject": "Acme",'),
    "a key twice in the head": (b'"organization": "Acme",', b'"organization": "Evil", "organization": "Acme",'),
    "escaped letters": (b'"organization": "Acme"', b'"organization": "\\u0041cme"'),
    "an escaped key": (b'"subject": "Acme"', b'"\\u0073ubject": "Acme"'),
    "a number with a fraction": (b'"position": 2,', b'"position": 2.0,'),
    "a number with an exponent": (b'"position": 2,', b'"position": 2e0,'),
    "a truth in place of one": (b'"position": 1,', b'"position": true,'),
    "an organization with a fraction": (b'{"format": "paraph-activity/1", "organization_id": 7,',
                                        b'{"format": "paraph-activity/1", "organization_id": 7.0,'),
    "another white space": (b'"position": 2,', b'"position":  2,'),
    "another hash in capitals": (b'"hash": "', b'"hash": "A'),
    "another time of the head": (b'"at": "2026-01-02T03:04:03Z"', b'"at": "2026-01-02T03:04:03.000Z"'),
    "a zone of the head": (b'"at": "2026-01-02T03:04:03Z"', b'"at": "2026-01-02T04:04:03+01:00"'),
    "no time in the head": (b'"at": "2026-01-02T03:04:03Z"', b'"at": "soon"'),
    "a time long after": (b'"at": "2026-01-02T03:04:03Z"', b'"at": "2026-01-02T04:04:03Z"'),
    "a time before": (b'"at": "2026-01-02T03:04:03Z"', b'"at": "2026-01-02T03:03:03Z"'),
    "another name": (b'"organization": "Acme"', b'"organization": "Acme Ltd"'),
    "more in the head": (b'"at": "', b'"verified": true, "at": "'),
    "less in the head": (b'"organization": "Acme", ', b""),
    "more behind the entries": (b"\n]}\n", b'\n], "verified": true}\n'),
    "all in one line": (b"\n", b""),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMS)
def test_other_forms_of_the_same_are_no_exports(kind: str) -> None:
    old, new = FORMS[kind]
    export = written(chained(*NAMED))
    assert old in export and check_export(export).ok
    assert not check_export(export.replace(old, new)).ok and not check_export(export.replace(old, new, 1)).ok


def test_an_export_without_its_own_act_is_not_valid() -> None:
    for entries in (chained(*NAMED[:2]), chained(*NAMED[:1]), []):
        check = check_export(written(entries))
        assert (
            not check.ok and check.problem == "The entry of the export itself is missing: entries were cut off its end."
        )
    assert check_export(written(chained(*NAMED))).ok and not check_export(written(chained(*NAMED, {}))).ok


@pytest.mark.parametrize(
    "facts",
    [{"after": None}, {"after": []}, {"before": "x"}, {"subject": None}, {"action": 5}, {"created_at": 1},
     {"created_at": "x"}, {"after": {"bb": 1, "a": 1}}, {"after": {"name": [[[]]]}}, {"hash": "x"}],
)  # fmt: skip
def test_whole_chains_of_something_else_are_answered_with_a_sentence(facts: dict[str, Any]) -> None:
    """Anybody can make a chain; not anything can be made of one."""
    assert isinstance(check_export(written(chained(facts, *NAMED))).problem, str)


def test_long_lines_and_deep_values_are_refused() -> None:
    head = written([])[: -len(b"\n]}\n")]
    for line in (b'{"a": "' + b"x" * (2 << 20), b"[" * 100_000, b"[" + b"[]," * 300_000, b'{"a":' * 5000):
        assert not check_export(head + b"\n" + line + b"\n]}\n").ok


@pytest.mark.django_db
def test_the_head_of_an_export_is_bound_by_its_last_act(organization: Organization) -> None:
    entry = note(organization.pk, OPERATOR, Action.ACTIVITY_EXPORTED, organization.name)
    note(organization.pk, OPERATOR, Action.KEY_REVOKED)  # meanwhile
    content = b"".join(exported(entry))
    assert check_export(content).ok and json.loads(content)["entries"][-1]["action"] == "activity.exported"
    assert json.loads(content)["at"] == clock.iso(entry.created_at)
    assert connection.vendor == "postgresql"  # its order of keys is that of exports
