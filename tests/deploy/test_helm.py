"""The chart, linted and rendered by Helm itself."""

import copy
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from paraph import __version__
from paraph.cli import web, worker
from paraph.kernel.settings import read_settings
from paraph.keys.development import development_authority
from paraph.pdf.timestamps.authorities import timestamping
from tests.cli.service import clean_environment
from tests.config.test_documentation import FIELDS
from tests.keys.certified_keys import make_root

helm = pytest.importorskip("helm_python", reason="Helm (helm-python-sdk) is there on Linux, x86-64, alone")

PROJECT = Path(__file__).parents[2]
CHART = PROJECT / "deploy" / "helm" / "paraph"
PAGE = (PROJECT / "docs" / "operating.md").read_text().split("### In Kubernetes")[1].split("\n## ")[0]
DIGEST = "sha256:" + "ab" * 32
DOCUMENTED, IN_MOST_CLUSTERS = (
    yaml.safe_load(each) for each in re.findall(r"```yaml values\n(.*?)```", PAGE, re.DOTALL)
)
VALUES = copy.deepcopy(DOCUMENTED)
VALUES["image"]["digest"] = DIGEST
VALUES["config"] |= {
    "PARAPH_WEB_THREADS": 12,
    "PARAPH_SMS_PER_COUNTRY_AND_DAY": 2_000_000,
    "PARAPH_REGISTRATION": "invited",
    "PARAPH_OWNERS_SET_RETENTION": False,
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
    kinds = ("Deployment", "PodDisruptionBudget", "Service")
    of_roles = {(kind, f"sign-{role}") for kind in kinds for role in ("web", "worker")}
    assert set(objects) == of_roles | {("Job", "sign-migrate")}


@pytest.mark.parametrize("role", ROLES)
def test_containers_may_do_little(objects: dict[tuple[str, str], Any], role: str) -> None:
    """The rest of what is demanded of them: tests/deploy/test_helm_values.py."""
    spec = pod(objects, role)
    [container] = spec["containers"]
    account = spec["securityContext"]
    dockerfile = (PROJECT / "Dockerfile").read_text()
    assert f"--uid {account['runAsUser']} " in dockerfile and account["fsGroup"] == account["runAsUser"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert spec["automountServiceAccountToken"] is False and spec["enableServiceLinks"] is False
    assert {"memory", "cpu"} == set(container["resources"]["limits"]) == set(container["resources"]["requests"])
    assert container["image"] == f"registry.example.com/paraph@{DIGEST}" and container["args"][:2] == ["paraph", role]


@pytest.mark.parametrize("role", ROLES)
def test_settings_and_secrets_arrive(objects: dict[tuple[str, str], Any], role: str) -> None:
    [container] = pod(objects, role)["containers"]
    plain = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    assert plain["PARAPH_WEB_THREADS"] == "12" and plain["PARAPH_OWNERS_SET_RETENTION"] == "false"
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
    assert working["readinessProbe"]["exec"]["command"] == ["paraph-healthy"]
    for probe in ("livenessProbe", "startupProbe"):
        assert working[probe]["exec"]["command"] == ["paraph-healthy", "--alive"]
    healthy = (PROJECT / "scripts" / "healthy").read_text()
    assert "--alive" in healthy and "/usr/local/bin/paraph-healthy" in (PROJECT / "Dockerfile").read_text()
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
    service, [container] = objects["Service", f"sign-{role}"]["spec"], pod(objects, role)["containers"]
    assert service["selector"] == selector and service["ports"][0]["targetPort"] == container["ports"][0]["name"]


def test_the_migration_runs_before_the_others_and_leaves_the_tables_of_a_newer_version(
    objects: dict[tuple[str, str], Any],
) -> None:
    """Argo CD and Flux run the hook also on the way back to an older version: without the option, which the tests of
    the command try, the migration would end with 1, and the way back with it."""
    job = objects["Job", "sign-migrate"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    spec = pod(objects, "migrate")
    assert spec["restartPolicy"] == "Never"
    assert spec["containers"][0]["args"] == ["paraph", "migrate", "--newer-tables"]


def test_the_documented_values_start_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented settings are accepted, with the files that the documented commands make secrets of."""
    [command] = re.findall(r"create secret generic paraph-keys (.*)", PAGE)
    for option in shlex.split(command):
        make_root().pem(tmp_path).rename(tmp_path / option.removeprefix("--from-file="))
    [container] = pod(rendered(DOCUMENTED), "worker")["containers"]
    for name in [*clean_environment(tmp_path), *(each["name"] for each in container["env"])]:
        monkeypatch.delenv(name, raising=False)
    given = {
        each["name"]: each["value"].replace("/keys/", f"{tmp_path}/") for each in container["env"] if "value" in each
    }
    for name, value in (given | {"PARAPH_DATA_DIR": str(tmp_path / "data")}).items():
        monkeypatch.setenv(name, value)
    settings = read_settings()
    for path in (settings.sealing_key, settings.sandbox_sealing_key):
        assert Path(path).exists()
    authority = development_authority(tmp_path, b"s" * 32, settings.development_key)
    assert timestamping(settings, authority).roots and not settings.lacks_proxy


def test_pods_that_would_not_work_together_are_refused() -> None:
    for missing in DOCUMENTED["config"]:
        config = {name: value for name, value in VALUES["config"].items() if name != missing}
        with pytest.raises(helm.HelmError, match=missing):
            rendered({**VALUES, "config": config})


def test_pods_that_share_a_folder_need_only_the_address_and_the_proxy() -> None:
    needed = {"PARAPH_BASE_URL": "https://sign.example.com", "PARAPH_TRUSTED_PROXIES": "10.0.0.0/16"}
    shared = rendered({**VALUES, "dataClaim": "paraph", "config": needed})
    volumes = {each["name"]: each for each in pod(shared, "worker")["volumes"]}
    assert volumes["data"]["persistentVolumeClaim"] == {"claimName": "paraph"}


@pytest.mark.parametrize(
    "built_in", [{"PARAPH_SERVE_AUTHORITY": True}, {"PARAPH_TIMESTAMP_AUTHORITIES": "https://tsa.example.com,built-in"}]
)
def test_an_authority_of_each_pods_own_is_refused(built_in: dict[str, Any]) -> None:
    """Its key would lie in a folder that ends with the pod."""
    with pytest.raises(helm.HelmError, match="built-in"):
        rendered({**VALUES, "config": {**VALUES["config"], **built_in}})
    rendered({**VALUES, "dataClaim": "paraph", "config": {**VALUES["config"], **built_in}})


def test_seals_without_timestamps_need_no_authority() -> None:
    config = {name: value for name, value in VALUES["config"].items() if "TIMESTAMP" not in name}
    rendered({**VALUES, "config": {**config, "PARAPH_SEAL_LEVEL": "B-B"}})


_SECRET = re.compile("_(KEY|KEY_PREVIOUS|PASSPHRASE|PIN|TOKEN|SECRET)$")
_PLACES_OF_KEYS = {"PARAPH_SEALING_KEY", "PARAPH_SANDBOX_SEALING_KEY", "PARAPH_DEVELOPMENT_KEY", "PARAPH_LOG_KEY"}
_HOLD_SECRETS = {"DATABASE_URL", "PARAPH_SMS_URL", "PARAPH_MAIL_PROVIDER_SETTINGS"}
_HOLD_SECRETS |= {"AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY"}


def test_secrets_are_refused_among_the_values() -> None:
    for secret in ({*filter(_SECRET.search, FIELDS)} - _PLACES_OF_KEYS) | _HOLD_SECRETS:
        with pytest.raises(helm.HelmError, match=secret):
            rendered({**VALUES, "config": {**VALUES["config"], secret: "x"}})


@pytest.mark.parametrize("name", ["PARAPH_SMTP_URL", "PARAPH_OUTBOUND_PROXY", "PARAPH_TIMESTAMP_AUTHORITIES"])
def test_addresses_are_refused_among_the_values_where_they_have_a_password(name: str) -> None:
    def told(address: str) -> dict[tuple[str, str], Any]:
        return rendered({**VALUES, "config": {**VALUES["config"], name: address}})

    [container] = pod(told("smtp://mail.example.com:25"), "web")["containers"]
    assert {"name": name, "value": "smtp://mail.example.com:25"} in container["env"]
    with pytest.raises(helm.HelmError, match=name):
        told("smtp://user:password@mail.example.com:25")


def test_the_chart_is_of_this_version() -> None:
    found = re.search(r'^appVersion: "(.+)"$', (CHART / "Chart.yaml").read_text(), re.MULTILINE)
    assert found and found[1] == __version__
