"""How far a check has come, kept in a file so that it goes on where it was stopped."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from paraph.kernel import clock

_SAVE_SECONDS = 2.0
_LISTED = 10_000


@dataclass
class Progress:
    """``stage`` counts the tables and folders that are done, ``after`` is the last id of the present table. At most
    10,000 ``problems`` are listed; ``found`` counts all of them."""

    path: Path
    began: str = field(default_factory=lambda: clock.now().isoformat())
    stage: int = 0
    after: int = 0
    objects: int = 0
    bytes: int = 0
    found: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._saved = time.monotonic()
        self._known: set[str] = set()

    @classmethod
    def resumed(cls, path: Path) -> Self:
        """That of the file; from the beginning where there is none."""
        progress = cls(path)
        if path.exists():
            for name, value in json.loads(path.read_text()).items():
                setattr(progress, name, value)
            progress._known = {problem["key"] for problem in progress.problems}
        return progress

    @property
    def began_at(self) -> datetime:
        return datetime.fromisoformat(self.began)

    def report(self, problem: dict[str, Any]) -> None:
        """Notes a problem once, also where its row or folder is looked at again after a stop."""
        if problem["key"] in self._known:
            return
        self._known.add(problem["key"])
        self.found += 1
        if len(self.problems) < _LISTED:
            self.problems.append(problem)

    def next_stage(self) -> None:
        self.stage, self.after = self.stage + 1, 0
        self.save()

    def save(self) -> None:
        """Replaces the file as a whole."""
        facts = asdict(self)
        del facts["path"]
        draft = self.path.with_name(f".{self.path.name}.part")
        draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # on an operator's machine nothing else has made it
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(facts, file)
        draft.replace(self.path)
        self._saved = time.monotonic()

    def save_now_and_then(self) -> None:
        if time.monotonic() - self._saved > _SAVE_SECONDS:
            self.save()
