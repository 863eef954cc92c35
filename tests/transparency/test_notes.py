"""Notes, checkpoints, cosignatures, proofs and policies as C2SP has them; each alteration is seen and named."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from paraph.transparency.merkle import ProofRefused, inclusion_proof, tree_hash
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    Policy,
    Proof,
    Signature,
    VerifierKey,
    check_tlog_proof,
    cosign,
    of_log,
    opened_checkpoint,
    read_key,
    read_note,
    read_policy,
    read_proof,
    sign,
    signatures_by,
)
from tests.docs.blocks import changed
from tests.transparency.test_merkle import ENTRIES, READ, VECTORS

LOG_PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
WITNESS_PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
ORIGIN = "sign.example.com/transparency"
LOG_KEY = read_key(VECTORS["log_key"], LOG)
WITNESS_KEY = read_key(VECTORS["witness_key"], WITNESS)
OTHER = VerifierKey("other.example.net/w", WITNESS, Ed25519PrivateKey.from_private_bytes(b"o" * 32).public_key()
                    .public_bytes_raw())  # fmt: skip
NOTE = VECTORS["note"]
SPECIFIED = """\
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""  # noqa: E501  the example of tlog-checkpoint


def test_what_we_write_is_what_an_independent_implementation_writes() -> None:
    text = str(Checkpoint(ORIGIN, 1000, tree_hash(0, 1000, READ)))
    own = Note(text, (sign(text, LOG_KEY, LOG_PRIVATE), cosign(text, WITNESS_KEY, WITNESS_PRIVATE, 1767000000)))
    assert str(own) == NOTE
    assert (str(LOG_KEY), str(WITNESS_KEY)) == (VECTORS["log_key"], VECTORS["witness_key"])
    note, checkpoint = opened_checkpoint(NOTE, [LOG_KEY])
    assert str(checkpoint) == text
    assert signatures_by(note, WITNESS_KEY) and not signatures_by(note, OTHER)
    assert not signatures_by(note, LOG_KEY._replace(name="other.example.com"))


def test_a_checkpoint_of_the_standard_can_be_read() -> None:
    assert str(read_note(SPECIFIED)) == SPECIFIED
    with pytest.raises(ProofRefused, match=r"example\.com/behind-the-sofa, whose key is not known"):
        opened_checkpoint(SPECIFIED, [LOG_KEY])


def note_of(text: str, *signatures: Signature) -> str:
    return str(Note(text, signatures or (sign(text, LOG_KEY, LOG_PRIVATE),)))


ROOT = base64.b64encode(tree_hash(0, 1000, READ)).decode()
ALTERED_NOTES = {
    "another size": (NOTE.replace("\n1000\n", "\n1001\n"), "signature of sign.example.com/transparency is wrong"),
    "another origin": (NOTE.replace(f"{ORIGIN}\n1000", "evil.example.com\n1000"), "whose key is not known"),
    "another root": (NOTE.replace(ROOT, base64.b64encode(b"r" * 32).decode()), "is wrong"),
    "an extension": (NOTE.replace(ROOT, f"{ROOT}\nmore"), "is wrong"),
    "the signature of another key": (
        note_of(f"{ORIGIN}\n1\n{ROOT}\n", sign("x", LOG_KEY._replace(name="x"), LOG_PRIVATE)),
        "is not signed by the key of sign.example.com",
    ),
    "a signature cut off": (NOTE[:-200] + "\n", "no signed note"),
    "no signature": (NOTE.partition("\n\n")[0] + "\n\n", "no signed note"),
    "no empty line": (NOTE.replace("\n\n", "\n"), "no signed note"),
    "a line after the signatures": (NOTE + "more\n", "no signed note"),
    "a carriage return": (NOTE.replace("\n", "\r\n"), "control characters"),
    "other white space in base64": (NOTE.replace("=\n", "= \n"), "no signed note"),
    "a thousand signatures": (NOTE + NOTE.splitlines(keepends=True)[-1] * 1000, "too long|no signed note"),
    "a size that no column holds": (note_of(f"{ORIGIN}\n{2**63 - 1}\n{ROOT}\n"), "below 10.18"),
    "a size with a zero before": (note_of(f"{ORIGIN}\n01\n{ROOT}\n"), "without leading zeros"),
    "a negative size": (note_of(f"{ORIGIN}\n-1\n{ROOT}\n"), "size of the checkpoint"),
    "a size of other digits": (note_of(f"{ORIGIN}\n\u0661\n{ROOT}\n"), "size of the checkpoint"),
    "no root": (note_of(f"{ORIGIN}\n1\n"), "no checkpoint"),
    "a short root": (note_of(f"{ORIGIN}\n1\nAAAA\n"), "no checkpoint"),
    "a size with a sign": (note_of(f"{ORIGIN}\n+1\n{ROOT}\n"), "size of the checkpoint"),
    "a size beyond all logs": (note_of(f"{ORIGIN}\n{10**19}\n{ROOT}\n"), "size of the checkpoint"),
    "a root with padding to spare": (note_of(f"{ORIGIN}\n1\n{ROOT}=\n"), "no checkpoint"),
    "a hyphen before the signature": (NOTE.replace("\u2014", "-"), "no signed note"),
    "the signature of another text": (
        note_of(f"{ORIGIN}\n1\n{ROOT}\n", sign(f"{ORIGIN}\n2\n{ROOT}\n", LOG_KEY, LOG_PRIVATE)),
        "is wrong",
    ),
    "an empty line in the text": (note_of(f"{ORIGIN}\n\n{ROOT}\n"), "no checkpoint"),
}


@pytest.mark.parametrize("name", ALTERED_NOTES)
def test_an_altered_checkpoint_says_what_is_wrong(name: str) -> None:
    altered, sentence = ALTERED_NOTES[name]
    assert altered != NOTE
    with pytest.raises(ProofRefused, match=sentence):
        opened_checkpoint(altered, [LOG_KEY])


def test_a_wrong_cosignature_of_a_known_witness_is_refused() -> None:
    note = read_note(NOTE)
    log, witness = note.signatures
    later = witness._replace(content=(1767000001).to_bytes(8, "big") + witness.content[8:])
    for altered in (later, witness._replace(content=witness.content[:-1]), witness._replace(content=b"")):
        with pytest.raises(ProofRefused, match=r"signature of witness\.example\.org"):
            signatures_by(note._replace(signatures=(log, altered)), WITNESS_KEY)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no verifier key"),
        (f"{VECTORS['log_key']}A", "no verifier key"),
        (VECTORS["log_key"].replace("sign.", "evil."), "no verifier key"),
        (VECTORS["witness_key"], "no verifier key of a log"),
        (str(VerifierKey(ORIGIN, LOG, b"k" * 31)), "no verifier key"),
        (VECTORS["log_key"].replace("sign.", "\udcff."), "no verifier key"),  # no UTF-8 on a command line
        (str(VerifierKey(ORIGIN, 6, b"k" * 1312)), "no verifier key"),
    ],
)
def test_other_keys_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(ProofRefused, match=sentence):
        read_key(text, LOG)


PROOF = str(Proof(301, inclusion_proof(301, 1000, READ), NOTE))
POLICY = Policy([LOG_KEY], {"w": WITNESS_KEY}, {}, "w")


def test_a_proof_holds_without_asking_the_log() -> None:
    assert str(read_proof(PROOF)) == PROOF
    assert check_tlog_proof(PROOF, ENTRIES[301], POLICY).size == 1000
    assert check_tlog_proof(PROOF.replace("\nindex", "\nextra YWJj\nindex"), ENTRIES[301], of_log(LOG_KEY)).size == 1000


LINES = PROOF.split("\n")
ALTERED_PROOFS = {
    "another file": (PROOF, "does not lead to the root"),
    "another index": (PROOF.replace("index 301", "index 302"), "does not lead to the root"),
    "an index beyond": (PROOF.replace("index 301", "index 1000"), "lies outside"),
    "an index with a zero before": (PROOF.replace("index 301", "index 0301"), "The index must be"),
    "no index": (PROOF.replace("index 301\n", ""), "must have an index"),
    "no first line": ("\n".join(LINES[1:]), "no proof of inclusion"),
    "another version": (PROOF.replace("@v1", "@v2"), "no proof of inclusion"),
    "a hash of other length": ("\n".join([*LINES[:2], "AAAA", *LINES[3:]]), "at most 63 hashes"),
    "hashes without end": ("\n".join([*LINES[:2], *[LINES[2]] * 64, *LINES[3:]]), "at most 63 hashes"),
    "an index of other digits": (PROOF.replace("index 301", "index \u0663\u0660\u0661"), "The index must be"),
    "a checkpoint of another log": (PROOF.replace(f"\n{ORIGIN}\n", "\nevil.example.com\n"), "whose key is not known"),
    "another checkpoint": (PROOF.replace("\n1000\n", "\n999\n"), "is wrong"),
    "a checkpoint without its signature": (PROOF.replace(f"\u2014 {ORIGIN} ", "\u2014 x "), "is not signed"),
    "a checkpoint without its witness": ("\n".join([*LINES[:-2], ""]), "wants w to have cosigned .* no known witness"),
    "nothing": ("", "no proof of inclusion"),
}


@pytest.mark.parametrize("name", ALTERED_PROOFS)
def test_an_altered_proof_says_what_is_wrong(name: str) -> None:
    altered, sentence = ALTERED_PROOFS[name]
    assert (altered != PROOF) is (name != "another file")
    with pytest.raises(ProofRefused, match=sentence):
        check_tlog_proof(altered, ENTRIES[300 if name == "another file" else 301], POLICY)


def test_a_policy_says_which_witnesses_are_enough() -> None:
    head = f"# two organizations\n log {LOG_KEY} https://sign.example.com/transparency\n\nwitness w\t{WITNESS_KEY}\n"
    head += f"witness o {OTHER}\n"
    note = read_note(NOTE)
    for tail in (
        "quorum none",
        "quorum w",
        "group g any w o\nquorum g",
        "group g 1 w o\nquorum g",
        "group g all w\nquorum g",
        "group g any w\ngroup h any g o\nquorum h",
    ):
        policy = read_policy(head + tail + "\n")
        policy.check(note)
        assert policy.logs == [LOG_KEY]
    for tail in ("quorum o", "group g all w o\nquorum g", "group g 2 w o\nquorum g"):
        with pytest.raises(ProofRefused, match=r"wants . to have cosigned the checkpoint; w did"):
            read_policy(head + tail).check(note)


def test_the_policy_of_the_docs_is_read() -> None:
    third = OTHER._replace(public=b"t" * 32)
    keys = {
        "sign.example.com/transparency+…": str(LOG_KEY),
        "sign.example.org/transparency+…": str(WITNESS_KEY),
        "witness.example.net/w1+…": str(third),
    }
    policy = read_policy(changed("docs/transparency.md", "log sign.example.com", keys))
    assert policy.groups == {"both": (2, ["org", "third"])}
    with pytest.raises(ProofRefused, match="wants both to have cosigned the checkpoint; org did"):
        policy.check(read_note(NOTE))


@pytest.mark.parametrize(
    "tail",
    [
        "",
        "quorum w\nquorum w",
        "quorum x",
        "group g 3 w o\nquorum g",
        "group g 0 w o\nquorum g",
        "group g any w w\nquorum g",
        "group g any w\ngroup h any w\nquorum h",
        "group g any g\nquorum g",
        "group g any none\nquorum g",
        "group w any o\nquorum w",
        "group g any\nquorum g",
        "witness none KEY\nquorum none",
        "witness w2 KEY\nquorum w",
        "log LOG\nquorum none",
        "trust w\nquorum w",
        "quorum w\r",
        "quorum\u00a0w",
    ],
)
def test_a_policy_that_is_not_understood_is_refused(tail: str) -> None:
    head = f"log {LOG_KEY}\nwitness w {WITNESS_KEY}\nwitness o {OTHER}\n"
    with pytest.raises(ProofRefused, match="policy"):
        read_policy(head + tail.replace("KEY", str(WITNESS_KEY)).replace("LOG", str(LOG_KEY)))
