"""What the shapes of answers have in common (rule 2), each of which OpenAPI publishes."""

from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, Field, WrapSerializer

from paraph.api.v1.codes import CODES
from paraph.signature_requests.values import LARGEST_ID, LONGEST_EMAIL, LONGEST_NAME

_BIG: Any = {"format": "int64"}
_URI: Any = {"format": "uri"}
_EMAIL: Any = {"format": "email"}
_MOMENT: Any = {"format": "date-time"}
_SECOND = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"
LINK_SECONDS = 900

Id = Annotated[int, Field(ge=1, le=LARGEST_ID, json_schema_extra=_BIG)]
Timestamp = Annotated[
    str,
    Field(pattern=_SECOND, min_length=20, max_length=20, json_schema_extra=_MOMENT, examples=["2030-05-17T08:30:12Z"]),
]
Url = Annotated[str, Field(min_length=1, json_schema_extra=_URI)]
Color = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", min_length=7, max_length=7)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
FullName = Annotated[
    str, Field(min_length=3, max_length=2 * LONGEST_NAME + 1, description="First name, space, last name.")
]
Email = Annotated[
    str, Field(min_length=3, max_length=LONGEST_EMAIL, description="As given at creation.", json_schema_extra=_EMAIL)
]
# Three decimals: sums of binary fractions would be answered as 12.100000000000001.
Points = Annotated[float, WrapSerializer(lambda value, handle: round(handle(value), 3))]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)]


def sometimes(**about: Any) -> Any:
    """Return a field that only some answers have: what stands for it in the others is not published."""
    return Field(default_factory=lambda: None, **about)


class Output(BaseModel):
    """An answer, or a part of one."""

    @classmethod
    def build(cls, **facts: Any) -> Self:
        """Make one without validation: stored values are answered as they are, and tests, not users, find what does not
        fit the shape."""
        return cast(Self, cls.model_construct(**facts))


class Pagination(Output):
    """Where in the collection this page is."""

    page: int = Field(ge=1, description="The page that was applied.", json_schema_extra=_BIG)
    limit: int = Field(ge=1, le=100, description="The limit that was applied.")
    count: int = Field(ge=0, description="Entries over all pages.", json_schema_extra=_BIG)
    pages: int = Field(ge=0, description="Pages at this limit; 0 when there are no entries.", json_schema_extra=_BIG)


class ErrorBody(Output):
    """What was refused, and why."""

    code: str = Field(
        min_length=1,
        description="What to decide by. Codes never change; others may be added, so decide by the status where you do "
        "not know one.",
        json_schema_extra={"x-extensible-enum": [*CODES]},
    )
    message: str = Field(
        min_length=1, description="For a person: one or more sentences in the language of Accept-Language."
    )


class Error(Output):
    """The one shape of everything refused."""

    error: ErrorBody
