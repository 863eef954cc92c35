"""What the dashboard's scripts and styles weigh, all of them together."""

import gzip
from pathlib import Path

import django_htmx

import paraph


def test_all_scripts_and_styles_together_are_light() -> None:
    """Each file compressed by itself, as browsers load it."""
    ours = Path(paraph.__file__).parent / "dashboard/static/dashboard"
    htmx = Path(django_htmx.__file__).parent / "static/django_htmx/htmx-2.min.js"
    files = [htmx, *ours.rglob("*.js"), *ours.rglob("*.css")]
    assert len(files) > 10
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) <= 60 * 1024
