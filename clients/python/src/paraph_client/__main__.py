"""``python -m paraph_client listen`` and ``python -m paraph_client mcp``."""

import argparse
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from paraph_client.listen import listen

_KEYS = "Environment: PARAPH_URL is where the service lives, PARAPH_API_KEY a key of it."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m paraph_client", epilog=_KEYS)
    commands = parser.add_subparsers(dest="command", required=True, metavar="{listen,mcp}")
    listening = commands.add_parser(
        "listen",
        help="forward events of a sandbox to a receiver on your machine, as webhooks",
        epilog=f"{_KEYS} Deliveries are signed with PARAPH_WEBHOOK_SECRET, or with a secret that is told at the start.",
    )
    listening.add_argument("--forward-to", required=True, type=_address, metavar="URL", help="where your receiver is")
    listening.add_argument("--since", metavar="CURSOR", help="go on behind this cursor, instead of from now on")
    listening.add_argument("--event", metavar="TYPE", help="only events of this type, such as request.completed")
    serving = commands.add_parser("mcp", help="serve tools for assistants on standard input and output", epilog=_KEYS)
    serving.add_argument(
        "--folder",
        action="append",
        default=[],
        type=_folder,
        metavar="FOLDER",
        help="PDFs in it may be uploaded; may be given several times. Without one, none may be",
    )
    options = parser.parse_args()
    url, key = _setting("PARAPH_URL"), _setting("PARAPH_API_KEY")
    if not _is_address(url):
        sys.exit(f"PARAPH_URL is “{url}”, which is no address such as https://sign.example.com. {_KEYS}")
    if options.command == "listen":
        secret = os.environ.get("PARAPH_WEBHOOK_SECRET") or None
        sys.exit(listen(url, key, options.forward_to, secret=secret, since=options.since, event=options.event))
    _serve_tools(url, key, options.folder)


def _serve_tools(url: str, key: str, folders: list[Path]) -> None:
    try:
        from paraph_client.mcp_server import serve  # noqa: PLC0415  an extra, which `listen` does without
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        sys.exit("The package mcp is missing: pip install 'paraph-client[mcp]'")
    serve(url, key, folders)


def _setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        sys.exit(f"{name} is not set. {_KEYS}")
    return value


def _folder(text: str) -> Path:
    path = Path(text).expanduser().resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"“{text}” is no folder")
    return path


def _address(text: str) -> str:
    if not _is_address(text):
        raise argparse.ArgumentTypeError(f"“{text}” is no address such as http://localhost:3000/webhooks")
    return text


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets that are no IPv6 address
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


if __name__ == "__main__":
    main()
