"""What you send to create a signature request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class SignerInput:
    """``ref`` links the signer to their placements and is not kept. ``phone`` is E.164, required for ``sms``.
    ``order`` is the signing order in ``sequential`` mode."""

    ref: str
    first_name: str
    last_name: str
    email: str
    order: int | None = None
    phone: str | None = None
    otp_channel: str | None = None

    def body(self) -> Json:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Stamp:
    """Made by :func:`under_tag` and :func:`at`."""

    type: str
    value: Json
    optional: bool = False

    def body(self) -> Json:
        return {"type": self.type, "value": self.value, "optional": self.optional}


def under_tag(tag: str, *, optional: bool = False) -> Stamp:
    """A stamp just under the first place where the text ``tag`` stands, centred on it."""
    return Stamp("magic_field", {"tag": tag}, optional)


def at(page_number: int, x: float, y: float, width: float | None = None, height: float | None = None) -> Stamp:
    """A stamp at a place in PDF points, origin at the bottom left; 200 by 80 unless you say otherwise."""
    place = {"page_number": page_number, "x": x, "y": y, "width": width, "height": height}
    return Stamp("coordinates", {name: value for name, value in place.items() if value is not None})


@dataclass(frozen=True)
class Placement:
    """The stamps of one signer on one document, 1 to 10."""

    signer_ref: str
    stamps: Sequence[Stamp]

    def body(self) -> Json:
        return {"signer_ref": self.signer_ref, "stamps": [stamp.body() for stamp in self.stamps]}


@dataclass(frozen=True)
class DocumentInput:
    """An uploaded document and who signs it where."""

    id: int
    signers: Sequence[Placement]

    def body(self) -> Json:
        return {"id": self.id, "signers": [placement.body() for placement in self.signers]}
