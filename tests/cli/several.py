"""``python -m tests.cli.several``: an operator's commands one after the other, for tests of something else, which need
not wait for an interpreter each time. A JSON list of their arguments comes in, one of their answers goes out. The
argument ``{id}`` stands for the id in the answer before."""

import json
import sys
from typing import Any

from click.testing import CliRunner

from paraph.cli import main


def run() -> None:
    answers: list[Any] = []
    for arguments in json.load(sys.stdin):
        known = [str(answers[-1]["id"]) if argument == "{id}" else argument for argument in arguments]
        done = CliRunner().invoke(main, [*known, "--json"])
        if done.exit_code:
            sys.exit(done.output)
        answers.append(json.loads(done.stdout))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    run()
