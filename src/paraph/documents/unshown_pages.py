"""Pages of which no picture could be drawn, by fault of the file: who cannot read a page cannot sign it."""

from paraph.database.rows import insert_once
from paraph.documents.models import Document, UnshownPage


def remember(document: Document, page_number: int) -> None:
    """Until :func:`forget`."""
    insert_once(UnshownPage(document=document, page_number=page_number))


def forget(document: Document, page_number: int) -> None:
    """The picture is there after all."""
    UnshownPage.objects.filter(document=document, page_number=page_number).delete()
