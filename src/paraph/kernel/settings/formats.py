"""How settings are written that are more than a word or a number."""

import json
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from paraph.kernel.ceilings import PerHourAndDay


def _split(value: Any) -> Any:
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


def _ceilings(value: Any) -> Any:
    return PerHourAndDay.parse(value) if isinstance(value, str) else value


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


CommaSeparated = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Ceilings = Annotated[PerHourAndDay, NoDecode, BeforeValidator(_ceilings)]
JsonStrings = Annotated[dict[str, str], NoDecode, BeforeValidator(_json)]
