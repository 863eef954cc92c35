"""The shapes of signatures and of what is entered into fields, where an act of the sandbox brings them."""

from paraph.api.v1.operation import DocumentPart
from paraph.signature_requests.marks import MOST_POINTS

_POINT: DocumentPart = {
    "type": "array",
    "items": {"type": "number", "minimum": 0, "maximum": 1},
    "minItems": 2,
    "maxItems": 2,
}
TYPED: DocumentPart = {
    "title": "Typed",
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "const": "typed", "description": "`typed`: the signer's name, written by hand."},
        "hand": {"type": "integer", "minimum": 1, "maximum": 4, "default": 1, "description": "In which of four hands."},
    },
}
DRAWN: DocumentPart = {
    "title": "Drawn",
    "type": "object",
    "required": ["type", "strokes"],
    "properties": {
        "type": {"type": "string", "const": "drawn", "description": "`drawn`: strokes, as of a pen."},
        "strokes": {
            "type": "array",
            "items": {"type": "array", "items": _POINT, "minItems": 1},
            "minItems": 1,
            "maxItems": MOST_POINTS,
            "description": "Each a list of points [x, y], from 0 to 1, from the top left. At most 20,000 points.",
        },
        "aspect": {
            "type": "number",
            "minimum": 0.05,
            "maximum": 20,
            "default": 1,
            "description": "Width divided by height of the area that was drawn on.",
        },
    },
}
ENTERED_FIELDS: DocumentPart = {
    "type": "array",
    "description": "What the signer fills in. For a field that is left out, what was entered before counts, else the "
    "sender's value.",
    "items": {
        "type": "object",
        "required": ["document_id", "name"],
        "properties": {
            "document_id": {"type": "integer", "description": "The document that the field stands on."},
            "name": {"type": "string", "description": "The field's name."},
            "value": {
                "type": ["string", "boolean", "null"],
                "description": "Of a checkbox, whether it is ticked; a text of all others: a date as `YYYY-MM-DD`, a "
                "number with a point or a comma. Null for nothing.",
            },
        },
    },
}
