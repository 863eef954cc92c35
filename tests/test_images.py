"""Containers are made of exactly the images that were looked at (requirements/README.md)."""

import re
from pathlib import Path
from typing import Any

import yaml

from paraph.kernel.settings import Settings

ROOT = Path(__file__).parents[1]
PINNED = re.compile(r"[a-z0-9./_-]+:[0-9][A-Za-z0-9._-]*@sha256:[0-9a-f]{64}")


def test_images_of_others_are_pinned_by_version_and_digest() -> None:
    text = (ROOT / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", text, re.MULTILINE)
    assert len(stages) == text.count("\nFROM ")
    arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    own = {name for _, name in stages}
    images = [arguments.get(image.strip("${}"), image) for image, _ in stages if image not in own]
    images += re.findall(r"^\s*image: (\S+)$", (ROOT / "compose.yaml").read_text(), re.MULTILINE)
    assert len(images) == 3
    assert all(PINNED.fullmatch(image) for image in images)


def services() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())["services"])


def test_compose_sets_settings_that_there_are() -> None:
    known = {str(field.validation_alias or f"PARAPH_{name.upper()}") for name, field in Settings.model_fields.items()}
    for name in ("migrate", "web", "worker"):
        assert set(services()[name]["environment"]) <= known


def test_compose_believes_the_address_of_its_proxy_alone() -> None:
    found = services()
    address = found["proxy"]["networks"]["front"]["ipv4_address"]
    assert found["web"]["environment"]["PARAPH_TRUSTED_PROXIES"] == address
    assert "front" in found["web"]["networks"] and "front" not in found["worker"].get("networks", {})


def test_each_role_has_its_own_check_of_health() -> None:
    """That of the image, which looks what it was started for."""
    assert 'CMD ["paraph-healthy"]' in (ROOT / "Dockerfile").read_text()
    assert not any("healthcheck" in services()[name] for name in ("web", "worker"))
