"""Fills the database of a data folder, before it is served, with requests, their journal, and retries that wait.

    python -m benchmarks.crowd FOLDER ORGANIZATIONS REQUESTS RETRIES

The requests are spread over the organizations and a year; the retries, each a webhook and a job, are due in hours.
Prints as JSON, of the first organization, an API key, pages of the dashboard and the cookies of an owner.
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.filling import fill, filling_server, new_crowd
from benchmarks.pages import owner_cookies, page_addresses


def main() -> None:
    with filling_server(Path(sys.argv[1])):
        organizations, requests, retries = map(int, sys.argv[2:])
        print(json.dumps(_filled(organizations, requests, retries)))


def _filled(organizations: int, requests: int, retries: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.db import connections

    from paraph.database.migrations import migrate

    migrate()
    crowd, key = new_crowd("Crowd", organizations, requests, evidence=True, retries=retries)
    fill(crowd)
    organization = crowd.organizations[0]
    cookies = {name: each.value for name, each in owner_cookies(organization).items()}
    pages = page_addresses(organization)
    connections.close_all()
    return {"key": key, "pages": pages, "cookies": cookies}


if __name__ == "__main__":
    main()
