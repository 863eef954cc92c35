"""The chart, linted and rendered by Helm itself."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from paraph import __version__
from paraph.cli import web, worker
from tests.config.test_documentation import FIELDS

helm = pytest.importorskip("helm_python", reason="Helm (helm-python-sdk) is there on Linux, x86-64, alone")

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "paraph"
DIGEST = "sha256:" + "ab" * 32
VALUES = {
    "image": {"repository": "registry.example.com/paraph", "digest": DIGEST},
    "secretName": "paraph",
    "keysSecretName": "paraph-keys",
    "config": {
        "PARAPH_BASE_URL": "https://sign.example.com",
        "PARAPH_TRUSTED_PROXIES": "10.0.0.0/16",
        "PARAPH_STORAGE_URL": "s3://paraph",
        "PARAPH_SEALING_KEY": "/keys/seal.p12",
        "PARAPH_SANDBOX_SEALING_KEY": "/keys/sandbox.p12",
        "PARAPH_TIMESTAMP_AUTHORITIES": "https://tsa.example.com",
        "PARAPH_WEB_THREADS": 12,
        "PARAPH_SMS_PER_COUNTRY_AND_DAY": 2_000_000,
        "PARAPH_SERVE_AUTHORITY": True,
    },
}
ROLES = ("web", "worker", "migrate")


def rendered(values: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Each object by its kind and name."""
    with helm.Chart.load(CHART) as chart:
        files = chart.render(values, name="sign", namespace="default")
    objects = [each for name, text in files.items() if name.endswith(".yaml") for each in yaml.safe_load_all(text)]
    return {(each["kind"], each["metadata"]["name"]): each for each in objects if each}


@pytest.fixture(scope="module")
def objects() -> dict[tuple[str, str], Any]:
    return rendered(VALUES)


def pod(objects: dict[tuple[str, str], Any], role: str) -> Any:
    return objects["Job" if role == "migrate" else "Deployment", f"sign-{role}"]["spec"]["template"]["spec"]


def test_helm_finds_no_fault() -> None:
    report = helm.lint(CHART, VALUES, strict=True)
    assert not report["errors"] and not [each for each in report["messages"] if each["severity"] > 1]


def test_the_objects_of_a_deployment(objects: dict[tuple[str, str], Any]) -> None:
    assert set(objects) == {
        ("Deployment", "sign-web"),
        ("Deployment", "sign-worker"),
        ("Job", "sign-migrate"),
        ("PodDisruptionBudget", "sign-web"),
        ("PodDisruptionBudget", "sign-worker"),
        ("Service", "sign-web"),
    }


@pytest.mark.parametrize("role", ROLES)
def test_containers_may_do_little(objects: dict[tuple[str, str], Any], role: str) -> None:
    spec = pod(objects, role)
    [container] = spec["containers"]
    account = spec["securityContext"]
    assert account["runAsNonRoot"] is True and account["seccompProfile"] == {"type": "RuntimeDefault"}
    dockerfile = (CHART.parents[2] / "Dockerfile").read_text()
    assert f"--uid {account['runAsUser']} " in dockerfile and account["fsGroup"] == account["runAsUser"]
    rights = container["securityContext"]
    assert rights == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False and spec["enableServiceLinks"] is False
    assert {"memory", "cpu"} == set(container["resources"]["limits"]) == set(container["resources"]["requests"])
    assert container["image"] == f"registry.example.com/paraph@{DIGEST}" and container["args"][:2] == ["paraph", role]


@pytest.mark.parametrize("role", ROLES)
def test_settings_and_secrets_arrive(objects: dict[tuple[str, str], Any], role: str) -> None:
    [container] = pod(objects, role)["containers"]
    plain = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    assert plain["PARAPH_WEB_THREADS"] == "12" and plain["PARAPH_SERVE_AUTHORITY"] == "true"
    assert plain["PARAPH_SMS_PER_COUNTRY_AND_DAY"] == "2000000"
    assert plain["PARAPH_HOST"] == "0.0.0.0" and set(plain) <= set(FIELDS)
    named = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in container["env"] if "valueFrom" in each}
    assert named == {key: {"name": "paraph", "key": key} for key in ("DATABASE_URL", "PARAPH_SECRET_KEY")}
    assert container["envFrom"] == [{"secretRef": {"name": "paraph"}}]
    volumes = {each["name"]: each for each in pod(objects, role)["volumes"]}
    assert {each["name"] for each in container["volumeMounts"]} == set(volumes) == {"data", "tmp", "keys"}
    assert volumes["data"]["emptyDir"] == {} and volumes["keys"]["secret"]["secretName"] == "paraph-keys"


def test_probes_by_role_and_time_to_end(objects: dict[tuple[str, str], Any]) -> None:
    [serving], [working] = pod(objects, "web")["containers"], pod(objects, "worker")["containers"]
    ready = serving["readinessProbe"]
    assert ready["httpGet"]["path"] == "/readyz" and serving["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert ready["periodSeconds"] * ready["failureThreshold"] < web._DRAIN_SECONDS
    assert working["readinessProbe"]["exec"]["command"] == ["paraph", "check", "--only", "workers"]
    assert "livenessProbe" not in working
    longest = web._DRAIN_SECONDS + web._KILL_SECONDS
    assert pod(objects, "web")["terminationGracePeriodSeconds"] >= longest + 5
    assert pod(objects, "worker")["terminationGracePeriodSeconds"] >= worker._LAST_SECONDS + 5


@pytest.mark.parametrize("role", ["web", "worker"])
def test_what_selects_pods_selects_those_of_its_role(objects: dict[tuple[str, str], Any], role: str) -> None:
    deployment, budget = objects["Deployment", f"sign-{role}"], objects["PodDisruptionBudget", f"sign-{role}"]
    selector = deployment["spec"]["selector"]["matchLabels"]
    assert selector["app.kubernetes.io/component"] == role and budget["spec"]["selector"]["matchLabels"] == selector
    assert selector.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert budget["spec"]["maxUnavailable"] == 1 and deployment["spec"]["replicas"] == 2


def test_the_service_reaches_the_web_servers(objects: dict[tuple[str, str], Any]) -> None:
    service = objects["Service", "sign-web"]["spec"]
    assert service["selector"] == objects["Deployment", "sign-web"]["spec"]["selector"]["matchLabels"]
    [container] = pod(objects, "web")["containers"]
    assert service["ports"][0]["targetPort"] == container["ports"][0]["name"]


def test_the_migration_runs_before_the_others(objects: dict[tuple[str, str], Any]) -> None:
    job = objects["Job", "sign-migrate"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert pod(objects, "migrate")["restartPolicy"] == "Never"


@pytest.mark.parametrize(
    "missing",
    ["PARAPH_BASE_URL", "PARAPH_TRUSTED_PROXIES", "PARAPH_STORAGE_URL", "PARAPH_SANDBOX_SEALING_KEY"],
)
def test_pods_that_would_not_work_together_are_refused(missing: str) -> None:
    values = copy.deepcopy(VALUES)
    del values["config"][missing]  # type: ignore[attr-defined]
    with pytest.raises(helm.HelmError, match=missing):
        rendered(values)


def test_pods_that_share_a_folder_need_only_the_address_and_the_proxy() -> None:
    needed = {"PARAPH_BASE_URL": "https://sign.example.com", "PARAPH_TRUSTED_PROXIES": "10.0.0.0/16"}
    shared = rendered({**VALUES, "dataClaim": "paraph", "config": needed})
    volumes = {each["name"]: each for each in pod(shared, "worker")["volumes"]}
    assert volumes["data"]["persistentVolumeClaim"] == {"claimName": "paraph"}


_SECRET = re.compile("_(KEY|KEY_PREVIOUS|PASSPHRASE|TOKEN|SECRET)$")
_PLACES_OF_KEYS = {"PARAPH_SEALING_KEY", "PARAPH_SANDBOX_SEALING_KEY", "PARAPH_DEVELOPMENT_KEY"}
_HOLD_SECRETS = {"DATABASE_URL", "PARAPH_SMS_URL", "PARAPH_MAIL_PROVIDER_SETTINGS"}
_HOLD_SECRETS |= {"AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY"}


@pytest.mark.parametrize("secret", sorted(({*filter(_SECRET.search, FIELDS)} - _PLACES_OF_KEYS) | _HOLD_SECRETS))
def test_secrets_are_refused_among_the_values(secret: str) -> None:
    with pytest.raises(helm.HelmError, match=secret):
        rendered({**VALUES, "config": {**VALUES["config"], secret: "x"}})  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["PARAPH_SMTP_URL", "PARAPH_OUTBOUND_PROXY"])
def test_addresses_are_refused_among_the_values_where_they_have_a_password(name: str) -> None:
    def told(address: str) -> dict[tuple[str, str], Any]:
        return rendered({**VALUES, "config": {**VALUES["config"], name: address}})  # type: ignore[dict-item]

    [container] = pod(told("smtp://mail.example.com:25"), "web")["containers"]
    assert {"name": name, "value": "smtp://mail.example.com:25"} in container["env"]
    with pytest.raises(helm.HelmError, match=name):
        told("smtp://user:password@mail.example.com:25")


def test_a_misspelt_value_is_refused() -> None:
    with pytest.raises(helm.HelmError, match="replcas"):
        rendered({**VALUES, "web": {"replcas": 3}})


def test_the_chart_is_of_this_version() -> None:
    found = re.search(r'^appVersion: "(.+)"$', (CHART / "Chart.yaml").read_text(), re.MULTILINE)
    assert found and found[1] == __version__
