"""Which stamps of a document get a ground of their own: judged for all of them at once, for preview and seal alike."""

from collections.abc import Iterable

from paraph.documents.models import Document
from paraph.documents.underneath import grounds
from paraph.signature_requests.models import Placement


def stamp_grounds(document: Document, placements: Iterable[Placement], *, keep: bool = True) -> dict[int, bool]:
    """Return for each of the ``placements``, which are all that the request has on the document, by primary key,
    whether its stamp needs one. ``keep``, and what is raised: as for
    :func:`paraph.documents.underneath.grounds`."""
    in_order = sorted(placements, key=lambda placement: placement.pk)
    places = [(at.page_number, at.x, at.y, at.width, at.height) for at in in_order]
    needed = grounds(document, places, keep=keep)
    return {placement.pk: ground for placement, ground in zip(in_order, needed, strict=True)}
