"""Code to paste, from ``samples.md``: by section, by name and by language."""

from pathlib import Path

Samples = dict[str, dict[str, str]]

CURL_QUERIES = {
    "listDocuments": "?created_after=2026-01-31&order=desc&limit=50",
    "listSignatureRequests": "?status=pending&order=desc",
    "listAuditLogs": "?limit=100",
    "listTemplates": "?limit=100",
    "listEvents": "?limit=100",
}


def _read(text: str) -> dict[str, Samples]:
    found: dict[str, Samples] = {}
    section, name, language, code = "", "", "", list[str]()
    for line in text.splitlines():
        if language and line == "```":
            found.setdefault(section, {}).setdefault(name, {})[language] = "\n".join(code)
            language, code = "", []
        elif language:
            code.append(line)
        elif line.startswith("```"):
            language = line.removeprefix("```").split()[-1]  # what comes before is for editors
        elif line.startswith("# "):
            section = line.removeprefix("# ")
        elif line.startswith("## "):
            name = line.removeprefix("## ")
    return found


_FOUND = _read(Path(__file__).with_name("samples.md").read_text("utf-8"))
OPERATIONS, SIGNER, GUIDES = (_FOUND[section] for section in ("Operations", "Signer", "Guides"))
