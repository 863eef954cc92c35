"""Whatever values the chart takes, Kubernetes takes the objects that it renders; all other values are refused."""

import copy
import json
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator, Registry

from tests.config.test_documentation import FIELDS
from tests.deploy.test_helm import CHART, IN_MOST_CLUSTERS, ROLES, VALUES, helm, pod, rendered

VERSIONS = ("1.27", "1.37")  # the oldest that Chart.yaml allows, and the newest whose schemas are there
ON_THE_SPOT = {"PARAPH_DATA_DIR", "PARAPH_HOST", "PARAPH_PORT"}  # what the chart itself sets
FOR_OTHERS = {"PARAPH_POSTGRES_DIR", "PARAPH_WORKER_PROCESSES", "PARAPH_OPERATOR"}  # paraph serve, and commands
SPREAD = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]
NEAR = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}}}  # fmt: skip
POLICY = IN_MOST_CLUSTERS["networkPolicy"]

TAKEN: dict[str, dict[str, Any]] = {
    "nothing more": {},
    "a tag": {
        "image": {"repository": "paraph", "digest": "", "tag": "7", "pullPolicy": "Always", "pullSecrets": ["pull"]}
    },
    "an account that is made": {"serviceAccount": {"create": True, "annotations": {"a": "b"}}},
    "an account of yours": {"serviceAccount": {"name": "signing"}},
    "secrets as files": {"secretFiles": ["DATABASE_URL", "PARAPH_SECRET_KEY", "PARAPH_SMTP_URL"]},
    "secrets from a driver": {
        "secretName": "",
        "config": {**VALUES["config"], "DATABASE_URL_FILE": "/csi/url", "PARAPH_SECRET_KEY_FILE": "/csi/key"},
        "extraVolumes": [{"name": "csi", "csi": {"driver": "secrets-store.csi.k8s.io", "readOnly": True}}],
        "extraVolumeMounts": [{"name": "csi", "mountPath": "/csi", "readOnly": True}],
    },
    "more in the environment": {
        "extraEnv": [
            {"name": "TZ", "value": "UTC"},
            {"name": "PARAPH_METRICS_TOKEN", "valueFrom": {"secretKeyRef": {"name": "other", "key": "token"}}},
        ],
        "extraEnvFrom": [{"configMapRef": {"name": "proxy"}}],
    },
    "places for all": {
        "nodeSelector": {"a": "b"}, "tolerations": [{"key": "only", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": NEAR, "topologySpreadConstraints": SPREAD, "priorityClassName": "high",
        "podAnnotations": {"a": "b"}, "podLabels": {"team": "legal"},
    },
    "places of a role": {
        "web": {"affinity": NEAR, "nodeSelector": {"c": "d"}, "podLabels": {"team": "web"}},
        "migrate": {"priorityClassName": "low", "tolerations": [{"operator": "Exists"}]},
    },
    "no keys": {"keysSecretName": ""},
    "a claim": {"dataClaim": "shared"},
    "a service": {"service": {"type": "NodePort", "port": 8080, "annotations": {"a": "b"}, "labels": {"c": "d"}}},
    "an ingress": {"ingress": {"enabled": True}},
    "an ingress with TLS": {"ingress": {"enabled": True, "className": "nginx", "tlsSecretName": "t"}},
    "a network policy": {
        "networkPolicy": {"enabled": True, "from": POLICY["from"], "to": POLICY["to"], "internet": False},
    },
    "autoscaling": {"worker": {"autoscaling": {"enabled": True, "minReplicas": 3, "maxReplicas": 3}}},
    "a monitor": {"serviceMonitor": {"enabled": True, "tokenSecretName": "token"}},
    "what most clusters want": IN_MOST_CLUSTERS,
}  # fmt: skip


def with_values(more: dict[str, Any]) -> dict[str, Any]:
    """The values of the chart with ``more`` over them. Maps are merged, as Helm does with several files of values."""
    found: dict[str, Any] = copy.deepcopy(VALUES)
    for name, value in more.items():
        found[name] = {**found[name], **value} if isinstance(found.get(name), dict) else value
    return found


@pytest.mark.parametrize("name", TAKEN)
def test_kubernetes_takes_it_with_what_most_clusters_want(name: str) -> None:
    """Each set of values is taken alone, and beside the values that most clusters want."""
    taken(with_values(TAKEN[name]))
    if "secretName" not in TAKEN[name]:
        taken(with_values({**IN_MOST_CLUSTERS, **TAKEN[name]}))


def taken(values: dict[str, Any]) -> None:
    objects = rendered(values)
    for each in objects.values():
        if each["kind"] == "ServiceMonitor":
            of_the_operator_of_prometheus(each)
        else:
            for version in VERSIONS:
                schema(version, each["kind"], each["apiVersion"]).validate(each)
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "sign" and all(isinstance(text, str) for text in labels.values())
    for role in ROLES:
        restricted(pod(objects, role))
        names = [each["name"] for each in pod(objects, role)["containers"][0]["env"]]
        assert len(names) == len(set(names))


@cache
def schema(version: str, kind: str, api: str) -> Draft202012Validator:
    """The schema of a Kubernetes version, to which an unknown field is a fault."""
    group, _, of_group = api.partition("/")
    short = f"{group.split('.')[0]}-{of_group}" if of_group else group
    known = Registry([("json-schema:///_definitions.json", written(version, "_definitions"))])
    return Draft202012Validator(written(version, f"{kind.lower()}-{short}"), registry=known)


@cache
def written(version: str, name: str) -> Any:
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{version}.0-local-strict"
    return json.loads((folder / f"{name}.json").read_text())


def of_the_operator_of_prometheus(monitor: Any) -> None:
    """Check the few fields that are used against the reference of ``monitoring.coreos.com/v1``."""
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1" and set(monitor["spec"]) == {"selector", "endpoints"}
    assert set(monitor["spec"]["selector"]) == {"matchLabels"}
    [endpoint] = monitor["spec"]["endpoints"]
    assert set(endpoint) == {"port", "path", "interval", "authorization"} and endpoint["path"] == "/metrics"
    assert set(endpoint["authorization"]) == {"credentials"}
    assert set(endpoint["authorization"]["credentials"]) == {"name", "key"}


def restricted(spec: Any) -> None:
    """Check the pod against the Pod Security Standard “restricted”, which namespaces may demand."""
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(spec)
    assert spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    of_the_cluster = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret"}
    assert all(set(volume) <= of_the_cluster | {"persistentVolumeClaim", "name"} for volume in spec["volumes"])
    for container in spec["containers"]:
        rights = container["securityContext"]
        assert rights["allowPrivilegeEscalation"] is False and rights["capabilities"] == {"drop": ["ALL"]}
        assert not any("hostPort" in port for port in container.get("ports", []))


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"web": {"replcas": 3}}, "replcas"),
        ({"ingres": {"enabled": True}}, "ingres"),
        ({"config": {"PARAPH_SMTP_ULR": "smtp://mail.example.com"}}, "PARAPH_SMTP_ULR"),
        ({"config": {"PARAPH_SMTP_ULR_FILE": "/csi/smtp"}}, "PARAPH_SMTP_ULR_FILE"),
        ({"config": {"AWS_SECRET_ACCESS_KEY": "secret"}}, "AWS_SECRET_ACCESS_KEY"),
        ({"config": {"PARAPH_HOST": "::"}}, "PARAPH_HOST"),
        ({"secretFiles": ["DATABASE_ULR", "PARAPH_SECRET_KEY"]}, "secretFiles"),
        ({"secretFiles": ["PARAPH_SECRET_KEY"]}, "DATABASE_URL"),
        ({"secretName": ""}, "secretName"),
        ({"secretName": "", "secretFiles": ["DATABASE_URL", "PARAPH_SECRET_KEY"]}, "secretName"),
        ({"image": {"repository": ""}}, "image.repository"),
        ({"image": {"repository": "a", "pullPolicy": "Sometimes"}}, "pullPolicy"),
        ({"extraEnv": [{"name": "PARAPH_SMTP_ULR", "value": "smtp://a"}]}, "extraEnv"),
        ({"extraEnv": [{"name": "PARAPH_SECRET_KEY", "value": "in the clear"}]}, "extraEnv"),
        ({"extraEnv": [{"name": "AWS_SECRET_ACCESS_KEY", "value": "in the clear"}]}, "extraEnv"),
        ({"extraEnv": [{"name": "PARAPH_DATA_DIR", "value": "/elsewhere"}]}, "extraEnv"),
        ({"extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}]}, "hostPath"),
        ({"extraVolumes": [{"name": "data", "emptyDir": {}}]}, "extraVolumes"),
        ({"extraVolumeMounts": [{"name": "a", "mountPath": "/data"}]}, "mountPath"),
        ({"podLabels": {"app.kubernetes.io/component": "web"}}, "app.kubernetes.io/component"),
        ({"tolerations": [{"key": "a", "efect": "NoSchedule"}]}, "efect"),
        ({"affinity": {"nodeAfinity": {}}}, "nodeAfinity"),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, "topologyKey"),
        ({"migrate": {"replicas": 2}}, "replicas"),
        ({"web": {"autoscaling": {"enabled": True, "minReplicas": 3, "maxReplicas": 2}}}, "minReplicas"),
        ({"networkPolicy": {"enabled": True, "to": POLICY["to"]}}, "networkPolicy.from"),
        ({"networkPolicy": {"enabled": True, "from": POLICY["from"]}}, "networkPolicy.to"),
        ({"networkPolicy": {"enabled": True, "from": [{"namespace": "proxy"}]}}, "networkPolicy"),
        ({"serviceMonitor": {"enabled": True, "interval": "often"}}, "interval"),
        ({"service": {"type": "ExternalName"}}, "type"),
    ],
)  # fmt: skip
def test_other_values_are_refused(more: dict[str, Any], named: str) -> None:
    with pytest.raises(helm.HelmError, match=named):
        rendered(with_values(more))


def test_the_chart_knows_every_setting_and_no_other() -> None:
    """Those that it sets itself, and those that only ``paraph serve`` or a command reads, are excepted. No setting is
    both a plain value and a secret."""
    rules = json.loads((CHART / "values.schema.json").read_text())
    plain, secret = (set(rules["definitions"][name]["enum"]) for name in ("setting", "secret"))
    assert plain | secret == set(FIELDS) - ON_THE_SPOT - FOR_OTHERS and not plain & secret
    [in_files] = [each["enum"] for each in rules["properties"]["config"]["propertyNames"]["anyOf"] if "enum" in each]
    assert set(in_files) == {f"{name}_FILE" for name in plain | secret}


def test_every_value_has_a_default_and_a_rule() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    rules = json.loads((CHART / "values.schema.json").read_text())
    assert set(rules["properties"]) - {"global"} == set(values)
    for name, rule in rules["properties"].items():
        if "properties" in rule and name not in ("global", "config", "migrate"):
            assert set(rule["properties"]) == set(values[name]), name


def test_what_a_role_says_goes_before_what_all_say() -> None:
    both = with_values({**TAKEN["places for all"], **TAKEN["places of a role"]})
    objects = rendered(both)
    serving, working, migrating = (pod(objects, role) for role in ROLES)
    assert serving["nodeSelector"] == {"a": "b", "c": "d"} and working["nodeSelector"] == {"a": "b"}
    assert migrating["priorityClassName"] == "low" and working["priorityClassName"] == "high"
    assert migrating["tolerations"] == [{"operator": "Exists"}] and "topologySpreadConstraints" not in migrating
    labels = objects["Deployment", "sign-web"]["spec"]["template"]["metadata"]["labels"]
    assert labels["team"] == "web" and labels["app.kubernetes.io/component"] == "web"
    [spread] = serving["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


def test_each_pod_has_its_account() -> None:
    made = rendered(with_values({"serviceAccount": {"create": True, "annotations": {"a": "b"}}}))
    assert made["ServiceAccount", "sign"]["metadata"]["annotations"] == {"a": "b"}
    assert [pod(made, role).get("serviceAccountName") for role in ROLES] == ["sign", "sign", None]
    yours = rendered(with_values({"serviceAccount": {"name": "signing"}}))
    assert {pod(yours, role)["serviceAccountName"] for role in ROLES} == {"signing"}
    assert not any(kind == "ServiceAccount" for kind, _ in yours)


def test_secrets_that_are_files_are_in_no_environment() -> None:
    objects = rendered(with_values(TAKEN["secrets as files"]))
    for role in ROLES:
        [container] = pod(objects, role)["containers"]
        told = {each["name"]: each.get("value") for each in container["env"]}
        assert told["PARAPH_SMTP_URL_FILE"] == "/secrets/PARAPH_SMTP_URL" and "DATABASE_URL" not in told
        mount = {"name": "secrets", "mountPath": "/secrets", "readOnly": True}
        assert "envFrom" not in container and mount in container["volumeMounts"]


def test_the_ingress_is_for_the_public_address() -> None:
    config = {**VALUES["config"], "PARAPH_BASE_URL": "https://sign.example.com:8443"}
    ingress = rendered(with_values({"config": config, "ingress": {"enabled": True, "tlsSecretName": "tls"}}))
    found = ingress["Ingress", "sign-web"]["spec"]
    assert found["tls"] == [{"hosts": ["sign.example.com"], "secretName": "tls"}]
    [rule] = found["rules"]
    assert rule["host"] == "sign.example.com"
    assert rule["http"]["paths"][0]["backend"]["service"] == {"name": "sign-web", "port": {"name": "http"}}


def test_a_field_that_kubernetes_does_not_know_would_be_found() -> None:
    deployment = rendered(VALUES)["Deployment", "sign-web"]
    rules = [schema(version, "Deployment", "apps/v1") for version in VERSIONS]
    assert all(each.is_valid(deployment) for each in rules)
    deployment["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["httpGet"]["paht"] = "/"
    assert not any(each.is_valid(deployment) for each in rules)


def test_who_may_reach_whom() -> None:
    objects = rendered(with_values(IN_MOST_CLUSTERS))
    all_pods, to_web, to_workers = (
        objects["NetworkPolicy", f"sign-{name}"]["spec"] for name in ("all", "web", "worker")
    )
    assert all_pods["policyTypes"] == ["Ingress", "Egress"] and "ingress" not in all_pods
    for role in ROLES:
        kind = "Job" if role == "migrate" else "Deployment"
        labels = objects[kind, f"sign-{role}"]["spec"]["template"]["metadata"]["labels"]
        assert all_pods["podSelector"]["matchLabels"].items() <= labels.items()
    assert POLICY["to"][0] in all_pods["egress"] and len(all_pods["egress"]) == 3
    assert to_web["ingress"] == [
        {"from": POLICY["from"] + POLICY["metricsFrom"], "ports": [{"protocol": "TCP", "port": "http"}]}
    ]
    assert to_workers["ingress"][0]["from"] == POLICY["metricsFrom"]
    closed = rendered(with_values(TAKEN["a network policy"]))
    assert len(closed["NetworkPolicy", "sign-all"]["spec"]["egress"]) == 2
    assert ("NetworkPolicy", "sign-worker") not in closed


def test_what_scales_by_itself_has_no_number_and_the_monitors_find_the_services() -> None:
    objects = rendered(with_values(IN_MOST_CLUSTERS))
    for role in ("web", "worker"):
        assert "replicas" not in objects["Deployment", f"sign-{role}"]["spec"]
        target = objects["HorizontalPodAutoscaler", f"sign-{role}"]["spec"]["scaleTargetRef"]
        assert target == {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"sign-{role}"}
        monitor, service = objects["ServiceMonitor", f"sign-{role}"], objects["Service", f"sign-{role}"]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
        assert monitor["metadata"]["labels"]["release"] == "prometheus"
