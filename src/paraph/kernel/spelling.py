"""Names that were misspelt."""

from collections.abc import Collection

_LONGEST = 60
_SHORT = 5  # letters: a shorter name may have only one wrong letter, or nearly any word would match


def nearest(name: str, known: Collection[str]) -> str:
    """Return the ``known`` name that ``name`` was probably meant to be, "" if there is none. Two letters at most may be
    wrong, missing, superfluous or swapped with the next one, in a short name one; case does not matter."""
    if not 1 < len(name) <= _LONGEST:
        return ""
    lowered = name.lower()
    close = [(_distance(lowered, each.lower()), each) for each in known if abs(len(each) - len(name)) <= 2]
    near = [(distance, each) for distance, each in close if distance <= (2 if len(each) >= _SHORT else 1)]
    return min(near)[1] if near else ""


def _distance(one: str, other: str) -> int:
    """Count the changes that turn one name into the other (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [index]
        for place, opposite in enumerate(other, start=1):
            steps = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != opposite))
            if index > 1 and place > 1 and letter == other[place - 2] and one[index - 2] == opposite:
                steps = min(steps, earlier[place - 2] + 1)
            row.append(steps)
    return row[-1]
