"""What a document's preflight report says. Fields of a later version come along unnamed."""

from typing import TypedDict


class PageSize(TypedDict):
    """``width`` and ``height`` in points, as a reader sees the page; ``pages``: how many have them."""

    width: float
    height: float
    pages: int


class Encryption(TypedDict):
    """``method`` is "rc4", "aes" or "aesv3"; ``permissions``: by name, whether readers are asked to allow it."""

    method: str
    bits: int
    permissions: dict[str, bool]


class EarlierSignatures(TypedDict):
    """``certification``: 2 allows filling in forms, 3 comments too, None without one."""

    count: int
    certification: int | None
    usage_rights: bool


class Forms(TypedDict):
    fields: int
    xfa: bool


class DisputedPlace(TypedDict):
    """A place on a page, in points from the bottom left. ``what``: "link_border", "annotation", "form_field", "lost"
    (contents that some readers leave out) or "contents" (drawn otherwise by a second renderer)."""

    page_number: int
    x: float
    y: float
    width: float
    height: float
    what: str


class Preflight(TypedDict):
    """What a file holds that you may want to know of before anybody signs it.

    ``prints_differently``: numbers of pages that look different in print; ``print_unknown``: how many were not
    compared; ``can_change``: words such as "scripts" or "layers" for what can change what is shown;
    ``drawn_differently``: places that other readers may draw otherwise;
    ``altered_after_seal``: trusted seals in it after which it was altered; ``method``: what had to be done to the file,
    "incremental" (nothing), "general" or "normalised". These six are None for documents of earlier versions of the
    service.
    """

    page_count: int
    sizes: list[PageSize]
    rotated_pages: int
    version: str
    encryption: Encryption | None
    signatures: EarlierSignatures
    forms: Forms
    scripts: int
    launch_actions: int
    submit_actions: int
    attachments: int
    prints_differently: list[int] | None
    print_unknown: int | None
    can_change: list[str] | None
    drawn_differently: list[DisputedPlace] | None
    altered_after_seal: list[str] | None
    repairs: list[str]
    method: str | None
