"""The page speaks of each file, signature and timestamp in plain words of the visitor's language."""

from dataclasses import replace
from typing import get_args

import pytest
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.text import capfirst

from paraph import words as catalog
from paraph.kernel import clock
from paraph.keys.certificates import read_roots
from paraph.pdf.report import EvidenceCheck, SealTimestamp, Verification
from paraph.pdf.verdict import Fault, SubIndication, decide
from paraph.pdf.verification.verify import verify
from paraph.verify_page import verdicts
from paraph.words import LOCALES
from tests.pdf.verification.test_evidence_check import ISSUED_BEFORE

[SEAL, *_] = verify((ISSUED_BEFORE / "signed.pdf").read_bytes(), read_roots(ISSUED_BEFORE / "root.pem")).signatures


def test_every_sub_indication_has_a_sentence_of_its_own() -> None:
    kinds = [kind.lower() for kind in get_args(SubIndication)]
    for locale in LOCALES:
        words = catalog.of("verify", locale)
        sentences = [words[f"reason_{kind or 'holds'}"] for kind in kinds]
        assert len(set(sentences)) == len(kinds) == sum(name.startswith("reason_") for name in words), locale


@pytest.mark.parametrize("kind", get_args(SubIndication)[1:])
def test_each_line_says_the_word_and_every_reason_in_the_language_of_the_page(kind: SubIndication) -> None:
    sentence = "Bytes 7 to 9 are others."
    report = Verification(findings=[sentence], faults=[Fault(kind, sentence), Fault("NO_POE", "It is late.")])
    stamp = SealTimestamp("Clock", clock.now(), "1.2", trusted=False, faults=(Fault(kind, sentence),))
    seal = replace(SEAL, timestamp=stamp, faults=(Fault(kind, sentence),))
    told = verdicts.as_shown({"a.pdf": replace(report, signatures=[seal])})
    [file] = told["files"]
    for line in (file, file["signatures"][0], file["signatures"][0]["timestamp"]):
        assert line["reasons"][0] == kind.lower() == told["reason"]
        assert line["verdict"] == told["verdict"] == decide(proven=False, faults=report.faults).word
    assert file["reasons"][1:] == ["no_poe"] * (kind != "NO_POE")
    about = {"verified_at": clock.now(), "host": "sign.example.org"}
    for locale in LOCALES:
        words = catalog.of("verdict", locale) | catalog.of("verify", locale)
        page = render_to_string("verify/verdict.html", {**told, **about, "words": words, "locale": locale})
        word = f"<strong>{capfirst(words[told['verdict']])}</strong>"
        assert page.count(f"{word}<span>{escape(words[f'reason_{kind.lower()}'])}</span>") == 3
        assert f'<ul class="list" lang="en" dir="ltr"><li>{sentence}</li></ul>' in page


def test_proof_and_files_together_have_a_line_with_each_reason_once() -> None:
    faults = [Fault("SIG_CONSTRAINTS_FAILURE", "One."), Fault("HASH_FAILURE", "Two."), Fault("HASH_FAILURE", "Three.")]
    told = verdicts.as_shown(EvidenceCheck(matches=["Yes."], faults=faults, notes=["Not given."]))
    assert told["verdict"] == "altered" and told["not_given"] == 1
    assert told["tied"] == {
        "verdict": "altered",
        "reasons": ["hash_failure", "sig_constraints_failure"],
        "problems": ["One.", "Two.", "Three."],
        "notes": ["Not given."],
        "matches": ["Yes."],
    }


def test_the_gravest_of_several_files_is_told_first() -> None:
    unknown = Verification.without("It is empty.")
    altered = Verification.without("It is another.", "HASH_FAILURE")
    told = verdicts.as_shown({"a.pdf": unknown, "b.pdf": altered})
    assert (told["verdict"], told["reason"]) == ("altered", "hash_failure")
    assert [file["verdict"] for file in told["files"]] == ["unknown", "altered"]


def test_what_others_wrote_cannot_turn_the_text() -> None:
    seal = replace(SEAL, signer="a\u202eb")
    report = replace(Verification.without("Sealed by \u202ea."), signatures=[seal])
    [file] = verdicts.as_shown({"a.pdf": report})["files"]
    assert "\u202e" not in str(file)
