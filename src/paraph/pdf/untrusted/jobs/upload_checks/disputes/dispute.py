"""A place that readers draw differently."""

from typing import NamedTuple

from paraph.pdf.structure.geometry import Box


class Dispute(NamedTuple):
    """In user space; ``page`` counts from 0. ``what``: ``link_border``, ``annotation``, ``form_field``, or ``lost``
    for drawings of the page that other readers leave out."""

    page: int
    what: str
    area: Box
