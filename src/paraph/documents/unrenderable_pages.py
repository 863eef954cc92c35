"""Remembering pages of which no picture can be drawn, by fault of the file: their documents cannot be signed."""

from paraph.documents.models import Document, UnrenderablePage


def remember(document: Document, page_number: int) -> None:
    """Record the page, until :func:`forget`."""
    page = UnrenderablePage(document=document, page_number=page_number)
    UnrenderablePage.objects.bulk_create([page], ignore_conflicts=True)


def forget(document: Document, page_number: int) -> None:
    """Delete the record of a page whose picture was drawn after all."""
    UnrenderablePage.objects.filter(document=document, page_number=page_number).delete()
