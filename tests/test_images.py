"""Containers are made of exactly the images that were reviewed (requirements/README.md)."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict

from paraph.kernel.settings import read_settings
from tests.config.test_documentation import FIELDS

ROOT = Path(__file__).parents[1]
_ELSEWHERE = {"PARAPH_POSTGRES_DIR", "PARAPH_WORKER_PROCESSES", "PARAPH_OPERATOR"}
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


def compose(part: str = "services") -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())[part])


def of_providers() -> set[str]:
    """Variables of the object stores, and of private authorities, that docs/configuration.md names."""
    row = re.search(r"^\| `PARAPH_STORAGE_URL` .*$", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE)
    assert row
    return set(re.findall(r"`((?:AWS|GOOGLE|AZURE|SSL)_[A-Z_]+)", row[0]))


@pytest.mark.parametrize("name", ["migrate", "web-a", "web-b", "worker"])
def test_every_setting_arrives_in_the_containers(name: str) -> None:
    """Settings that only ``paraph serve`` or a command reads are excepted. The operator may set each one that has no
    value in compose.yaml."""
    environment = compose()[name]["environment"]
    assert set(environment) == (set(FIELDS) | of_providers()) - _ELSEWHERE
    given = {variable for variable, value in environment.items() if value is not None}
    fixed = {"PARAPH_DATA_DIR", "PARAPH_HOST", "PARAPH_PORT", "PARAPH_TRUSTED_PROXIES"}
    assert given == fixed | {"PARAPH_BASE_URL", "PARAPH_SECRET_KEY", "DATABASE_URL"}


def test_the_example_of_an_environment_has_what_compose_asks_for_and_is_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All variables are set at once. The file has the form that Compose, systemd and kubectl read alike."""
    lines = [line for line in (ROOT / "deploy" / "paraph.env").read_text().splitlines() if line]
    values = dict(line.removeprefix("#").split("=", 1) for line in lines if re.match(r"#?[A-Z_]+=", line))
    assert all(re.fullmatch(r"# .*|#|#?[A-Z_]+=[^ \"'$#]+", line) for line in lines)
    asked = set(re.findall(r"\$\{(\w+):\?", (ROOT / "compose.yaml").read_text()))
    assert asked <= set(values) <= set(FIELDS) | of_providers() | {"POSTGRES_PASSWORD"}
    for variable, value in values.items():
        monkeypatch.setenv(variable, value)
    read_settings()


def test_compose_believes_the_address_of_its_proxy_alone() -> None:
    found = compose()
    address = found["proxy"]["networks"]["front"]["ipv4_address"]
    assert found["web-a"]["environment"]["PARAPH_TRUSTED_PROXIES"] == address
    assert "front" in found["web-a"]["networks"] and "front" not in found["worker"].get("networks", {})


def test_the_database_of_compose_is_reached_by_its_socket_alone() -> None:
    found = compose()
    assert found["database"]["network_mode"] == "none"
    folder = "/var/run/postgresql"
    reached = [name for name, service in found.items() if f"socket:{folder}" in service["volumes"]]
    assert reached == ["database", "migrate", "web-a", "web-b", "worker"]
    url = found["worker"]["environment"]["DATABASE_URL"].replace("${POSTGRES_PASSWORD:?}", "secret")
    assert conninfo_to_dict(url) == {"user": "paraph", "password": "secret", "dbname": "paraph", "host": folder}


def test_nobody_else_gets_the_address_of_the_proxy() -> None:
    """Docker gives the lowest free address to the container that starts first."""
    address = ip_address(compose()["proxy"]["networks"]["front"]["ipv4_address"])
    [pool] = compose("networks")["front"]["ipam"]["config"]
    assert address in ip_network(pool["subnet"]) and address not in ip_network(pool["ip_range"])


def test_no_setting_stands_twice_in_compose() -> None:
    """Compose refuses a file in which a key stands twice."""
    names = re.findall(r"^    ([A-Z][A-Z0-9_]+):", (ROOT / "compose.yaml").read_text(), re.MULTILINE)
    assert len(names) == len(set(names)) > 50


def test_the_documented_upgrade_replaces_one_web_server_after_the_other() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()
    steps = re.findall(r"^    docker compose up --detach --no-deps (?:--wait )?(\S+)$", page, re.MULTILINE)
    found = compose()
    web = [name for name in found if found[name].get("command") == ["paraph", "web"]]
    assert steps == ["worker", *web] and len(web) == 2


def test_each_role_has_its_own_check_of_health() -> None:
    """The image has one health check, which sees for which role the container was started."""
    assert 'CMD ["paraph-healthy"]' in (ROOT / "Dockerfile").read_text()
    assert not any("healthcheck" in compose()[name] for name in ("web-a", "web-b", "worker"))
