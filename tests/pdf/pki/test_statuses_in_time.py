"""Lists and answers prove something only of a time that they cover, and only if their makers were in order then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.development import revocation_list
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.verification.verify import verify
from tests.pdf import forge
from tests.pdf.forge import USES, certificate, curve_key, der_of
from tests.pdf.forge import usage as usage_of
from tests.pdf.revisions import archived, revised, store
from tests.pdf.sealed_files import OWN, ROOTS, on, stamped
from tests.pdf.verification.test_revocation_scope import UNKNOWN

NOW = clock.now().replace(microsecond=0)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def at(days: float) -> datetime:
    return NOW + days * DAY


@cache
def root(usage: str = "", start: float = -1000, end: float = 1000) -> x509.Certificate:
    key, extensions = curve_key("root"), [usage_of(*usage.split())] if usage else []
    return certificate("Root", key, "Root", key, ca=True, start=start * DAY, end=end * DAY, extensions=extensions)


@cache
def leaf(end: float = 100) -> x509.Certificate:
    return certificate("Leaf", curve_key("leaf"), "Root", curve_key("root"), start=-100 * DAY, end=end * DAY)


def responder(**facts: Any) -> x509.Certificate:
    known: dict[str, Any] = {"purposes": [ExtendedKeyUsageOID.OCSP_SIGNING], "start": -1000 * DAY, "end": 1000 * DAY}
    with on(NOW):
        return certificate("Responder", curve_key("responder"), "Root", curve_key("root"), **(known | facts))


def by_list(about: x509.Certificate, this: datetime, end: datetime | None, *, revoked: bool = False) -> LongTermData:
    def change(stated: Any) -> None:
        stated["this_update"] = asn1_x509.Time({"utc_time": this})
        if end:
            stated["next_update"] = asn1_x509.Time({"utc_time": end})
        else:
            del stated["next_update"]

    entries, key = [forge.revoked(about, at(-99))] if revoked else [], curve_key("root")
    return LongTermData(crls=(forge.anew(forge.revocation_list(root(), key, *entries), key, change),))


def by_issuer(
    about: x509.Certificate,
    this: datetime,
    end: datetime | None,
    *,
    revoked: bool = False,
    made: datetime | None = None,
    by: Sequence[x509.Certificate] = (),
) -> LongTermData:
    """Return a status answer. ``made``: when it says that it was made; ``by``: certificates of a responder, if any."""

    def change(stated: Any) -> None:
        stated["produced_at"], stated["responses"][0]["this_update"] = made or this, this

    key, when = curve_key("responder" if by else "root"), at(-99) if revoked else None
    answer = forge.answer(about, root(), key, by=by, revoked_at=when, this=min(this, end or this), end=end)
    return LongTermData(ocsps=(forge.anew(answer, key, change),))


def by_responder(about: x509.Certificate, this: datetime, end: datetime | None, **facts: Any) -> LongTermData:
    return by_issuer(about, this, end, by=[responder()], **facts)


KINDS: dict[str, Callable[..., LongTermData]] = {
    "list": by_list,
    "answer of the issuer": by_issuer,
    "answer of a responder": by_responder,
}


@dataclass(frozen=True)
class Case:
    """A status, in days from now: ``this`` and ``end`` as it states them, ``of``, the time asked about, ``known``, when
    it is known to have existed, and ``leaf_ends``, when the certificate ends."""

    this: float
    end: float | None
    good: bool
    of: float = 0
    known: float | None = None
    leaf_ends: float = 100


CASES = {
    "fresh": Case(0, 7, good=True),
    "just made, of a time a moment ago": Case(0, 7, of=-0.001, good=True),
    "in force": Case(-6, 1, good=True),
    "in force for long": Case(-99, 99, good=True),
    "in force until then": Case(-6, -3, of=-3, good=True),
    "in force until just before": Case(-6, -3, of=-2.999, good=False),
    "ended": Case(-6, -1, good=False),
    "made afterwards": Case(-10, -3, of=-20, good=True),
    "made long afterwards": Case(0, 7, of=-99, good=True),
    "without an end": Case(0, None, good=True),
    "without an end, six days old": Case(-6, None, good=True),
    "without an end, eight days old": Case(-8, None, good=False),
    "without an end, very old": Case(-900, None, good=False),
    "without an end, made afterwards": Case(-10, None, of=-20, good=True),
    "four minutes ahead": Case(4 / 1440, 7, good=True),
    "six minutes ahead": Case(6 / 1440, 7, good=False),
    "six minutes ahead, of a time before": Case(6 / 1440, 7, of=-20, good=False),
    "a month ahead": Case(30, 60, good=False),
    "ended before it began": Case(-1, -3, of=-20, good=False),
    "under a timestamp": Case(-3, 4, known=-2, of=-4, good=True),
    "just before its timestamp": Case(-2, 4, known=-2, of=-4, good=True),
    "after its timestamp": Case(-1, 4, known=-2, of=-4, good=False),
    "of a certificate that has expired since": Case(-6, 1, of=-20, leaf_ends=-5, good=True),
    "of an expired certificate": Case(-4, 1, of=-20, leaf_ends=-5, good=False),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_proven_of_a_time(kind: str, case: Case) -> None:
    about, end = leaf(case.leaf_ends), None if case.end is None else at(case.end)
    chain = (der_of(about), der_of(root()))
    data = KINDS[kind](about, at(case.this), end)
    known = {} if case.known is None else {item: at(case.known) for items in data.lists for item in items}
    with on(NOW):
        assert data.proves(chain, at(case.of), known) is case.good
    with pytest.raises(Revoked):
        KINDS[kind](about, at(case.this), end, revoked=True).proves(chain, at(case.of), known)


@pytest.mark.parametrize("this, made, good", [(-3, -1, True), (-3, 1, False), (-1, -3, True), (1, -3, False)])
def test_an_answer_was_made_at_the_later_of_its_times(this: float, made: float, *, good: bool) -> None:
    data = by_issuer(leaf(), at(this), at(7), made=at(made))
    assert data.proves((der_of(leaf()), der_of(root())), at(0)) is good
    gone = [responder(end=-2 * DAY)]
    assert not by_issuer(leaf(), at(this), at(7), made=at(made), by=gone).proves(
        (der_of(leaf()), der_of(root())), at(0)
    )


RESPONDERS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "in order": ([{}], True),
    "expired": ([{"end": -500 * DAY}], False),
    "expired a minute before": ([{"end": -DAY - MINUTE}], False),
    "expired since": ([{"end": -DAY + MINUTE}], True),
    "not yet valid": ([{"start": -DAY + MINUTE}], False),
    "an unknown critical extension": ([{"extensions": [(UNKNOWN, True)]}], False),
    "an unknown extension": ([{"extensions": [(UNKNOWN, False)]}], True),
    "another purpose": ([{"purposes": [ExtendedKeyUsageOID.TIME_STAMPING]}], False),
    "any purpose": ([{"purposes": [ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]}], False),
    "no purpose": ([{"purposes": []}], False),
    "renewed": ([{"end": -500 * DAY}, {}], True),
    **{f"a key for {usage}": ([{"extensions": [usage_of(*usage.split())]}], usage in USES[:2]) for usage in USES[:7]},
}


@pytest.mark.parametrize("kind", RESPONDERS)
def test_a_responder_was_in_order_when_it_answered(kind: str) -> None:
    of, good = RESPONDERS[kind]
    data = by_issuer(leaf(), at(-1), at(7), by=[responder(**facts) for facts in of])
    assert data.proves((der_of(leaf()), der_of(root())), at(0)) is good


@pytest.mark.parametrize("kind", KINDS)
def test_an_issuer_was_valid_when_a_list_or_an_answer_was_made(kind: str) -> None:
    data = KINDS[kind](leaf(), at(-1), at(7))
    for start, end, good in ((-1000, 1000, True), (-0.9, 1000, False), (-1000, -1.1, False), (-1.1, -0.9, True)):
        assert data.proves((der_of(leaf()), der_of(root(start=start, end=end))), at(0)) is good


@pytest.mark.parametrize("usage", ["", *USES[:7]])
def test_an_issuer_answers_with_a_key_for_signatures_or_lists(usage: str) -> None:
    chain = (der_of(leaf()), der_of(root(usage)))
    assert by_issuer(leaf(), at(-1), at(7)).proves(chain, at(0)) is (usage in {"", *USES[:2], "crl_sign"})


def test_a_list_that_says_it_is_younger_than_the_timestamp_over_it_raises_no_level() -> None:
    """That is so however late the file is verified."""
    for ahead, levels in ((timedelta(0), ("B-LTA", "B-LTA")), (DAY, ("B-T", "B-T"))):
        pdf = archived(revised(stamped(), store(crls=[revocation_list(OWN, clock.now() + ahead)])))
        for level, later in zip(levels, (timedelta(0), 2 * DAY), strict=True):
            with on(clock.now() + later):
                found = verify(pdf, ROOTS)
            assert found.ok and found.level == level
