"""The alerts and the dashboard: promtool accepts and tries them, and ``/metrics`` has whatever they name."""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from paraph import __version__
from paraph.evidence.models import Backup
from paraph.kernel import clock
from paraph.metrics import metrics
from paraph.operations.exposition import exposition

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "paraph.rules.yml"
DASHBOARD = json.loads((DEPLOY / "grafana" / "paraph.json").read_text())
_ADDED_BY_PROMETHEUS = {"job", "instance", "le"}

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool (Debian: prometheus) is missing")


def promtool(*arguments: str, folder: Path = RULES.parent) -> subprocess.CompletedProcess[str]:
    command = ["promtool", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@needs_promtool
def test_promtool_accepts_the_alerts() -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES.name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
@needs_promtool
def test_each_alert_is_raised_by_its_fault_and_none_on_a_healthy_service() -> None:
    done = promtool("test", "rules", "paraph.rules.test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_promtool_reads_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": re.sub(r"\$__rate_interval", "5m", expression)}
        for number, expression in enumerate(drawn())
    ]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    done = promtool("check", "rules", "--lint=none", "rules.yml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def told(db: None) -> dict[str, set[str]]:
    """The labels of each sample of ``/metrics`` once everything has happened at least once. Samples that depend on
    rows of the database are included although there are no such rows."""
    metrics.count_request("GET", "sign/<str:token>", 200, 0.1)
    metrics.count_seal("proof", "rewritten", level="B-T", timestamped=True, timestamp_failures=0)
    metrics.count_job("finalize", "succeeded", 0.1)
    metrics.webhooks.inc("signer.signed", "delivered")
    with metrics.message("email", "code"):
        pass
    metrics.guesses.inc("right")
    metrics.locks.inc()
    metrics.count_wait("thread", 0.1, served=True)
    with metrics.stage("seal"):
        pass
    Backup.objects.create(as_of=clock.now(), problems=0)
    labels: dict[str, set[str]] = defaultdict(set, paraph_jobs={"queue", "task", "state"}, paraph_webhooks={"state"})
    text = exposition().decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    version = f'paraph_build_info{{version="{__version__}"}} 1.0'
    assert {"# TYPE paraph_jobs gauge", "# TYPE paraph_webhooks gauge", version} <= set(text.splitlines())
    return labels


def test_every_figure_and_label_that_is_named_is_told(told: dict[str, set[str]]) -> None:
    alerts = re.findall(r"expr: (?:\|\n)?((?:.|\n)+?)(?=\n +(?:for|labels):)", RULES.read_text())
    assert len(alerts) == RULES.read_text().count("- alert:") and len(drawn()) > 20
    for expression in [*alerts, *drawn()]:
        named = re.findall(r"(paraph_\w+)(?:\{([^}]*)\})?", re.sub(r'"[^"]*"', '""', expression))
        assert named or "up{" in expression, expression
        known = set(_ADDED_BY_PROMETHEUS)
        for name, selector in named:
            assert name in told, f"{name} is not told: {expression}"
            known |= told[name]
            assert set(re.findall(r"(\w+)\s*[=!]", selector)) <= told[name] | _ADDED_BY_PROMETHEUS, expression
        for grouping in re.findall(r"by \(([^)]*)\)", expression):
            assert set(re.split(r",\s*", grouping)) <= known, expression


def test_everything_that_is_told_is_drawn(told: dict[str, set[str]]) -> None:
    """The parts of histograms that no panel needs are excepted."""
    everything = " ".join(drawn())
    spare = re.compile(r"_(created|sum|count|bucket)$")
    assert not {name for name in told if not spare.search(name) and name not in everything}


def test_panels_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in _span(place, "x", "w") for y in _span(place, "y", "h")}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells


def drawn() -> list[str]:
    return [str(target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]


def _span(place: dict[str, Any], start: str, length: str) -> range:
    return range(place[start], place[start] + place[length])
