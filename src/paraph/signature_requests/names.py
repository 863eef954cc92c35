"""Full names, in the order of their script and language."""

import unicodedata

_FAMILY_NAME_FIRST = frozenset({"hu"})
_EAST_ASIAN = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA")


def full_name(first_name: str, last_name: str, locale: str) -> str:
    """Return the name as its bearer writes it: "Zoë Lindqvist", "王伟", "김민준", in Hungarian "Nagy Anna".

    Names in katakana alone are those of foreigners, and keep their order.
    """
    parts = [{_script(letter) for letter in part if letter.isalpha()} for part in (first_name, last_name)]
    scripts = set[str]().union(*parts)
    if all(parts) and scripts <= set(_EAST_ASIAN) and scripts != {"KATAKANA"}:
        return last_name + first_name
    if locale.replace("_", "-").split("-")[0].lower() in _FAMILY_NAME_FIRST:
        return f"{last_name} {first_name}"
    return f"{first_name} {last_name}"


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in _EAST_ASIAN if name.startswith(script)), "")
