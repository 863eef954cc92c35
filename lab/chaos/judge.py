"""What was lost or done twice, once everything is quiet."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lab.chaos.client import Made
from lab.chaos.world import World
from tests.cli.service import Service

_MOST_ASKED = 4


def problems(service: Service, around: World, made: list[Made]) -> list[str]:
    """Return a sentence for each request or mail that was lost or done twice; empty is the aim."""
    heard: dict[int, Counter[str]] = {}
    for event, number in _deliveries(around):
        heard.setdefault(number, Counter())[event] += 1
    found = []
    for request, state in zip(made, _states(service, made), strict=True):
        told = [*_state(request, state), *_webhooks(request, heard.get(request.id, Counter()))]
        told += [] if request.expires or request.refuses else _mails(request, around)
        told += _refusals(request, around) if request.refuses else []
        found += [f"request {request.id}: {problem}" for problem in told]
    return found + [f"mailed again: {name}" for name, count in around.mail.answered.items() if count > 1]


def repeated_mails(around: World) -> int:
    """Return how many mails came again under the same Message-ID, which a mailbox shows once. They are no fault: a
    process was killed between the last byte of a mail and its note that the mail is out (docs/decisions/mails.md)."""
    named = Counter(name for names in around.mail.taken.values() for name in names)
    return sum(count - 1 for count in named.values())


def _deliveries(around: World) -> set[tuple[str, int]]:
    """Return each delivery once, however often it came, as (event and signer, id of the request)."""
    heard = set()
    for hook in around.hooks.received:
        body = json.loads(hook.body)
        signer = f" {body['signer']['id']}" if body.get("signer") else ""
        heard.add((body["event"] + signer, body["signature_request"]["id"]))
    return heard


def _state(request: Made, state: dict[str, Any]) -> list[str]:
    events = Counter(entry["event_type"] for entry in state["journal"])
    outcome = _refused() if request.refuses else _expired() if request.expires else _completed(request)
    expected = {"signature_request.created": 1} | outcome
    wrong = {event: events[event] for event, count in expected.items() if events[event] != count}
    done = state["status"] == "expired" if request.expires else state["finalized"]
    done = state["signers"][0]["undelivered"] is not None if request.refuses else done
    return [
        *([] if done else [f"not done: {state['why']}"]),
        *([f"journal counts {wrong}"] if wrong else []),
        *([f"journal broken at {state['journal_broken_at']}"] if state["journal_broken_at"] else []),
    ]


def _expired() -> dict[str, int]:
    never = ("signer.signed", "request.completed", "signature_request.pades_signed")
    return {"request.expired": 1} | dict.fromkeys(never, 0)


def _refused() -> dict[str, int]:
    return {"signer.delivery_failed": 1, "signer.notified": 0, "signer.signed": 0}


def _completed(request: Made) -> dict[str, int]:
    return {
        "signer.signed": len(request.signers),
        "request.completed": 1,
        "request.expired": 0,
        "signature_request.pades_signed": request.documents,
        "signature_request.certificate_issued": 1,
        "request.completion_notified": 1,
    }


def _webhooks(request: Made, heard: Counter[str]) -> list[str]:
    wanted = {"request.expired"} if request.expires else {"request.completed"}
    wanted = set() if request.refuses else wanted
    for signer in [] if request.expires or request.refuses else request.signers:
        wanted |= {f"signer.otp_sent {signer['id']}", f"signer.signed {signer['id']}"}
    lost = sorted(wanted - set(heard))
    return [f"webhooks never heard: {lost}"] if lost else []


def _mails(request: Made, around: World) -> list[str]:
    wanted = {f"<completion-{signer['id']}@": signer["email"] for signer in request.signers}
    lost = [
        to for name, to in wanted.items() if not any(mail.startswith(name) for mail in around.mail.taken.get(to, []))
    ]
    return [f"no mail about its completion: {lost}"] if lost else []


def _refusals(request: Made, around: World) -> list[str]:
    """Expect one attempt, and one more for each process that was killed between the server's answer and its note."""
    asked = around.mail.refused[request.signers[0]["email"]]
    return [] if 1 <= asked <= _MOST_ASKED else [f"a mailbox that refuses was asked {asked} times"]


def _states(service: Service, made: list[Made]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "lab.chaos.states", *(str(request.id) for request in made)],
        env=service.environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    states: list[dict[str, Any]] = json.loads(done.stdout)
    return states
