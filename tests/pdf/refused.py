"""Files that are refused at upload, each for a different reason."""

import io
import re
from typing import Any

import pikepdf
from pikepdf import Dictionary
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.pdf_utils.writer import copy_into_new_writer

from tests.pdf.pdf_factory import paper, saved, text

THREE_PAGES = paper(*(text(words, 50, 50) for words in ("one", "two", "three")))


def locked() -> bytes:
    with pikepdf.open(io.BytesIO(THREE_PAGES)) as document:
        return saved(document, encryption=pikepdf.Encryption(user="u", owner="o"))


def encrypted_by(handler: bytes, entries: bytes = b"") -> bytes:
    """A file encrypted by the security handler ``handler``, which the readers cannot use."""
    dictionary = b"/Encrypt << /Filter %s /V 4 /R 4 /Length 128 %s >>" % (handler, entries)
    return THREE_PAGES.replace(b"trailer <<", b"trailer << " + dictionary)


def for_certificates(name: bytes = b"/Adobe.PubSec") -> bytes:
    recipients = b"/CF << /DefaultCryptFilter << /CFM /AESV2 /Recipients [ <30> ] >> >> /StmF /DefaultCryptFilter"
    return encrypted_by(name, b"/SubFilter /adbe.pkcs7.s5 " + recipients)


def with_integrity_code() -> bytes:
    """An encrypted file that opens without a password, with an integrity code over all of it (ISO/TS 32004)."""
    written = io.BytesIO()
    writer: Any = copy_into_new_writer(PdfFileReader(io.BytesIO(THREE_PAGES)))
    writer.encrypt("owner", "")
    writer.write(written)
    return written.getvalue()


def of_unknown_version() -> bytes:
    """A file encrypted by the standard security handler, in a version that is not defined."""
    keys = b"/O (%s) /U (%s) /P -1" % (b"o" * 32, b"u" * 32)
    return encrypted_by(b"/Standard", keys).replace(b"/V 4 /R 4", b"/V 9 /R 9")


def without_pages() -> bytes:
    return saved(pikepdf.new())


def with_page_two(entry: bytes) -> bytes:
    """Three pages, the second replaced by ``entry``, padded to the same length so that all offsets stay right."""
    found = re.search(rb"/Kids \[ \d+ 0 R (\d+ 0 R)", THREE_PAGES)
    assert found
    return THREE_PAGES[: found.start(1)] + entry.ljust(len(found[1])) + THREE_PAGES[found.end(1) :]


def font_for_page_two() -> bytes:
    """The page tree names a font where the second page should be."""
    return with_page_two(b"1 0 R")


def number_for_page_two() -> bytes:
    return with_page_two(b"7")


def page_two_of_another_type() -> bytes:
    def prepare(document: pikepdf.Pdf) -> None:
        document.pages[1].obj.Note = Dictionary(a=1)

    whole = paper(text("one", 50, 50), text("two", 50, 50), prepare=prepare)
    changed, count = re.subn(rb"(/Note <<[^>]*>>(?:(?!endobj).)*/Type /)Page\b", rb"\1Pagy", whole, flags=re.DOTALL)
    assert count == 1
    return changed


def page_tree_without_kids() -> bytes:
    """A page tree that names no pages and counts one, which PDFium shows."""
    return re.sub(rb"/Kids \[[^\]]*\]", b"", paper(""))


def numbered_kids() -> bytes:
    return re.sub(rb"/Kids \[[^\]]*\]", b"/Kids 7", paper(""))


def catalog_of_another_generation() -> bytes:
    """A trailer that names the catalog with a generation that it does not have."""
    return paper("").replace(b"/Root 1 0 R", b"/Root 1 1 R")


def catalog_in_the_trailer() -> bytes:
    """A catalog in the trailer itself, where only qpdf accepts it."""
    tree = re.findall(rb"/Pages (\d+ 0 R)", paper(""))[0]
    return re.sub(rb"/Root \d+ 0 R", b"/Root <</Type/Catalog/Pages %b>>" % tree, paper(""))


def field_with_a_name_not_in_utf_8() -> bytes:
    """A sound file: a name may be any bytes."""

    def prepare(document: pikepdf.Pdf) -> None:
        field = pikepdf.Object.parse(b"<</FT /#ff#fe /T (a) /Type /Annot /Subtype /#ff#fe /Rect [0 0 0 0]>>")
        document.Root.AcroForm = Dictionary(Fields=pikepdf.Array([document.make_indirect(field)]))
        document.pages[0].obj.Annots = document.Root.AcroForm.Fields

    return paper("", prepare=prepare)
