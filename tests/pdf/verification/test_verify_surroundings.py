"""Our own seal is judged by what it covers, whatever lies around it. Findings name each part that cannot be judged."""

import re
import warnings
from collections.abc import Callable
from functools import partial
from io import BytesIO

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Encryption, Name, ObjectStreamMode

from paraph.kernel import clock
from paraph.pdf.pki.certificate import Untrusted, check_chain, load
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.report import SignatureReport, Verification
from paraph.pdf.verification.evidence_check import signer_certificates
from paraph.pdf.verification.verify import verify
from tests.pdf import forge
from tests.pdf.levels import long_term, sealed_at_the_highest
from tests.pdf.pdf_factory import made, paper
from tests.pdf.sealed_files import OWN, ROOT, ROOTS, authority, sealed, sealed_now
from tests.pdf.surroundings import (
    BROKEN_SIGNATURES,
    ODD_STORES,
    OF_EDWARDS_CURVE,
    OF_UNKNOWN_CURVE,
    OF_UNKNOWN_KEY,
    READABLE_STORES,
    STRANGER,
    WORDS,
    field_in_a_circle,
    signature,
    signed_by,
    with_store,
)  # fmt: skip

UNREAD = "Some of the long-term validation data in the file cannot be read."


def assert_holds(content: bytes) -> Verification:
    found = verify(content, ROOTS)
    assert found.ok and found.covers_whole_file and found.level == "B-LTA", found.findings
    seal, archive = found.signatures[-2:]
    assert seal.intact and seal.trusted and not seal.altered and archive.intact and archive.trusted
    assert signer_certificates(content)["seal"] == OWN.sealing_key.certificate
    return found


def assert_speaks_against(report: SignatureReport, name: str) -> None:
    assert report.field_name == name and not report.intact and not report.trusted and report.level == ""
    assert len(report.findings) == 1 and (name or "without a name") in report.findings[0]


_IN_THE_FIELD = [
    pytest.param(kind, True, marks=pytest.mark.thorough if number else ())
    for number, kind in enumerate(BROKEN_SIGNATURES)
]


@pytest.mark.parametrize(("kind", "direct"), [*((kind, False) for kind in BROKEN_SIGNATURES), *_IN_THE_FIELD])
def test_a_broken_earlier_signature(kind: str, direct: bool) -> None:
    found = assert_holds(sealed_at_the_highest(signed_by(BROKEN_SIGNATURES[kind], direct=direct)))
    assert len(found.signatures) == 3
    assert_speaks_against(found.signatures[0], "Old")
    assert found.signatures[0].findings[0] in found.findings
    assert found.signatures[0].kind == ("document timestamp" if kind == "a document timestamp" else "seal")


@pytest.mark.parametrize("name", [None, 5, "x\n" * 5000])
def test_a_broken_signature_without_a_proper_name(name: object) -> None:
    found = assert_holds(sealed_at_the_highest(signed_by(signature(), T=name)))
    assert len(found.signatures) == 3 and "\n" not in found.signatures[0].field_name
    assert all("\n" not in sentence for sentence in found.findings)
    assert_speaks_against(found.signatures[0], found.signatures[0].field_name)


def test_what_a_form_can_be_beside_one() -> None:
    for form in (5, {"Fields": 5}, {"Fields": [5, {}]}):
        assert len(assert_holds(sealed_at_the_highest(paper(WORDS, catalog={"AcroForm": form}))).signatures) == 2
    for kids in (5, [5, {}]):
        assert_holds(sealed_at_the_highest(signed_by(signature(), Kids=kids)))
    found = assert_holds(sealed_at_the_highest(field_in_a_circle()))
    assert_speaks_against(found.signatures[0], "Old")


def test_of_very_many_signatures_the_newest_are_looked_at() -> None:
    field = {"Subtype": Name.Widget, "Rect": [0, 0, 0, 0], "FT": Name.Sig, "V": signature()}
    pdf = paper(WORDS, annotations=[{**field, "T": f"Old {number}"} for number in range(230)])
    found = assert_holds(sealed_at_the_highest(pdf))
    assert len(found.signatures) == 200
    assert "Of its 232 signatures the newest 200 were looked at." in found.findings


def test_a_signature_by_somebody_whose_cms_was_damaged() -> None:
    first = sealed(paper(WORDS), key=authority("rsa-3072").sealing_key, at=clock.now()).content
    value = re.search(rb"/Contents\s*<([0-9a-f]+?)0*>", first)
    assert value is not None
    for place in range(value.start(1), value.end(1), 400):
        changed = first[:place] + (b"0" if first[place : place + 1] != b"0" else b"1") + first[place + 1 :]
        found = verify(sealed_at_the_highest(changed), ROOTS)
        assert found.intact and found.trusted and found.covers_whole_file and found.level == "B-LTA"
        assert found.ok == found.earlier_match == bool(found.signatures[0].matches)
        assert found.signatures[0].coverage == "its revision"
        assert_speaks_against(found.signatures[0], "Seal")


def with_terms(*changes: tuple[bytes, bytes], strength: int = 4) -> bytes:
    """Return an AES-encrypted file with an empty page and no strings, its encryption dictionary changed by hand."""
    with pikepdf.open(BytesIO(paper(WORDS))) as document:
        document.pages[0].obj.Contents = document.make_stream(b"")
        output = BytesIO()
        locked = Encryption(owner="owner", user="", R=strength)  # type: ignore[arg-type]
        document.save(output, encryption=locked, object_stream_mode=ObjectStreamMode.disable)
    pdf = output.getvalue()
    for before, after in changes:
        assert before in pdf
        pdf = pdf.replace(before, after)
    end = pdf.rindex(b"startxref")
    return pdf[:end] + b"startxref\n%d\n%%%%EOF\n" % pdf.rindex(b"xref\n", 0, end)


def packed(strength: int, *, aes: bool, metadata: bool) -> bytes:
    """Return a file whose objects lie in encrypted streams."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pikepdf calls R=5 deprecated, as it is
        locked = Encryption(owner="owner", user="", R=strength, aes=aes, metadata=metadata)  # type: ignore[arg-type]
        return paper(WORDS, encryption=locked, object_stream_mode=ObjectStreamMode.generate)


_VARIANTS = [
    (2, False, False), (3, False, False), (4, False, False), (4, True, True), (4, True, False),
    (5, True, True), (5, True, False), (6, True, True), (6, True, False),
]  # fmt: skip
STREAMS, STRINGS = b"/StmF /StdCF", b"/StrF /StdCF"
FILTER = b"/StdCF << /AuthEvent /DocOpen /CFM /AESV2 /Length 16 >>"
ENCRYPTED: dict[str, Callable[[], bytes]] = {
    "as it is": with_terms,
    "strings in the clear": partial(with_terms, (STRINGS, b"/StrF /Identity")),
    "strings in the clear, R6": partial(with_terms, (STRINGS, b"/StrF /Identity"), strength=6),
    "streams in the clear": partial(with_terms, (STREAMS, b"/StmF /Identity")),
    "attachments alone": partial(with_terms, (STREAMS, b"/EFF /StdCF"), (STRINGS, b"")),
    "no filter for strings": partial(with_terms, (STRINGS, b"")),
    "filters of other names": partial(with_terms, (b"StdCF", b"AnyCF")),
    "a filter of RC4": partial(with_terms, (b"/AESV2", b"/V2")),
    "no filters": partial(with_terms, (b"/CF << %b >>" % FILTER, b""), (STREAMS, b""), (STRINGS, b"")),
    "a filter that is none": partial(with_terms, (b"/CF <<", b"/CF << /Other 5")),
    "a filter for recipients": partial(with_terms, (b"/CF <<", b"/CF << /Other << /CFM /AESV3 /Recipients [] >>")),
    "no length of the key": partial(with_terms, (b"/Length 128", b"")),
    "the length of the key in bits": partial(with_terms, (b"/Length 16", b"/Length 128")),
    **{
        f"packed, R{strength}, AES {aes}, metadata {metadata}": partial(packed, strength, aes=aes, metadata=metadata)
        for strength, aes, metadata in _VARIANTS
    },
}


@pytest.mark.parametrize("kind", ENCRYPTED)
def test_every_encryption_that_opens_without_a_password(kind: str) -> None:
    pdf = ENCRYPTED[kind]()
    assert b"/Encrypt" in pdf
    content = sealed_at_the_highest(pdf)
    found = assert_holds(content)
    assert found.signatures[0].field_name == "Seal" and found.signed_at is not None
    assert verify(content + b"\n", ROOTS).ok and not verify(content + b"%\n", ROOTS).ok


def test_a_broken_signature_in_an_encrypted_file() -> None:
    for strength in (4, 5, 6):
        with pikepdf.open(BytesIO(signed_by(signature(ByteRange=None)))) as document, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = BytesIO()
            document.save(output, encryption=Encryption(owner="owner", user="", R=strength))
        found = assert_holds(sealed_at_the_highest(output.getvalue()))
        assert_speaks_against(found.signatures[0], "Old")


@pytest.mark.parametrize("kind", ODD_STORES)
def test_an_odd_store_of_long_term_data(kind: str) -> None:
    found = assert_holds(sealed_at_the_highest(with_store(ODD_STORES[kind])))
    replaced = kind in ("a number", "an array", "a stream")  # sealing replaces what is no store by its own
    assert (UNREAD in found.findings) == (kind not in READABLE_STORES and not replaced)


@pytest.mark.parametrize("kind", ["a number", "undecodable streams"])
def test_an_odd_store_and_a_seal_that_needs_none(kind: str) -> None:
    found = verify(sealed_now(with_store(ODD_STORES[kind])), ROOTS)
    assert found.ok and found.level == "B-T" and UNREAD in found.findings


STRANGERS = [
    OF_UNKNOWN_KEY, OF_UNKNOWN_CURVE, OF_EDWARDS_CURVE, STRANGER, b"", b"garbage", ROOT[:100], ROOT + b"\0",
]  # fmt: skip


def test_a_chain_whatever_else_is_named() -> None:
    leaf, key = forge.leaf(forge.curve_key()), forge.curve_key("middle")
    middle, root = forge.der_of(forge.middle()), forge.der_of(forge.root())
    twin = forge.der_of(forge.certificate("Test Middle", key, "Test Middle", key, ca=True))
    impostor = forge.der_of(forge.certificate("Test Middle", forge.curve_key("x"), "Test Root", key, ca=True))
    subject = load(forge.der_of(leaf))
    for others in ([*STRANGERS, middle], [middle, *STRANGERS], [impostor, *STRANGERS, middle]):
        assert check_chain(subject, others, [root], clock.now())[1:] == (middle, root)
        assert check_chain(subject, others, [b"garbage", STRANGERS[0], root], clock.now())[1:] == (middle, root)
    assert check_chain(subject, [twin, impostor, *STRANGERS, middle], [root], clock.now())[-1] == root
    for others in (STRANGERS, [impostor, twin]):
        with pytest.raises(Untrusted, match="does not chain"):
            check_chain(subject, others, [root], clock.now())
    with pytest.raises(Untrusted, match="no root"):
        check_chain(subject, [middle], [b"garbage"], clock.now())


def test_statuses_whatever_lies_beside_them() -> None:
    data = long_term().collect_expected((OWN.sealing_key.certificate, OWN.root)).data
    chain = (OWN.sealing_key.certificate, OWN.root)
    assert data.proves(chain, clock.now())
    version_9 = [item.replace(b"\x02\x01\x01", b"\x02\x01\x08", 1) for item in (*data.crls, *data.ocsps)]
    odd = (*version_9, *STRANGERS, *(item[:-9] for item in (*data.crls, *data.ocsps)), *data.ocsps, *data.crls)
    assert (LongTermData(crls=odd, ocsps=odd) + data).proves(chain, clock.now())
    assert not LongTermData(crls=tuple(STRANGERS), ocsps=tuple(version_9)).proves(chain, clock.now())


def test_a_range_that_seems_to_end_within_the_revision_of_the_seal() -> None:
    """Such a range does not date a field: a broken one in the form itself, which the seal rewrites, is still old."""

    def upload(rest: int) -> bytes:
        def prepare(document: pikepdf.Pdf) -> None:
            false_end = document.make_indirect(made(document, signature(ByteRange=[0, 1, 2, rest])))
            field = document.make_indirect(Dictionary(FT=Name.Sig, T="Range", V=false_end))
            document.Root.AcroForm = Dictionary(Fields=Array([field, Dictionary(FT=Name.Sig, T="Old", V=5)]))

        return paper(WORDS, prepare=prepare)

    size, whole = len(upload(1000)), len(sealed(upload(1000), at=clock.now()).content)
    for rest in range(size, min(whole, 9999), (whole - size) // 30):
        found = verify(sealed(upload(rest), at=clock.now()).content, ROOTS)
        assert found.ok and {report.field_name for report in found.signatures[:-1]} == {"Old", "Range"}
