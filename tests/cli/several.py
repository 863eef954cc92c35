"""``python -m tests.cli.several``: run an operator's commands one after the other in one process, so that a test that
only needs their results does not wait for an interpreter each time. Read a JSON list of their arguments, and write one
of their answers. The argument ``{id}`` stands for the id in the previous answer."""

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
