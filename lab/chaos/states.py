"""``python -m lab.chaos.states ID…``: what ``paraph request show`` says of many requests, in one process."""

import json
import sys

from paraph.cli.session import database

if __name__ == "__main__":
    with database():
        from paraph.operations.request_state import request_state

        json.dump([request_state(int(number)) for number in sys.argv[1:]], sys.stdout)
