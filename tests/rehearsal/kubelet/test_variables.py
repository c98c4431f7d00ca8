"""Environment variables, the downward API, quantities and the words a container runs."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from rehearsal.kubelet.containers.downward_api import FieldError, Surroundings, field, resource
from rehearsal.kubelet.containers.expansion import expand
from rehearsal.kubelet.containers.variables import ConfigError, environment
from rehearsal.kubernetes import quantity
from rehearsal.kubernetes.image_table import Image, TableError, argv, parse, runs_here
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit
AROUND = Surroundings("10.64.1.9", "10.128.0.1", {"cpu": "7900m", "memory": "10Gi"})
OBJECTS = {
    ("ConfigMap", "cm"): {"data": {"k": "v", "n": ""}},
    ("Secret", "s"): {"data": {"pw": base64.b64encode(b"x y").decode()}},
}


def find(kind: str, name: str) -> dict[str, Any] | None:
    return OBJECTS.get((kind, name))


def variables(**fields: Any) -> dict[str, str]:
    spec = pods.container(**fields)
    return environment(pods.pod(spec), spec, AROUND, find, "172.16.0.2", 443)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$(A)-$(B)", "1-$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A} $(A", "$A ${A} $(A"),
        ("$", "$"),
        ("", ""),
    ],
)
def test_references_are_replaced_when_known(text: str, wanted: str) -> None:
    assert expand(text, {"A": "1"}) == wanted


def test_later_variables_see_earlier_ones_only() -> None:
    found = variables(
        env=[{"name": "A", "value": "$(B)"}, {"name": "B", "value": "2"}, {"name": "C", "value": "$(B)3"}]
    )
    assert (found["A"], found["C"]) == ("$(B)", "23")


def test_the_cluster_is_announced_and_may_be_overridden() -> None:
    found = variables(env=[{"name": "KUBERNETES_SERVICE_HOST", "value": "other"}])
    assert (found["KUBERNETES_SERVICE_HOST"], found["KUBERNETES_SERVICE_PORT"], found["HOSTNAME"]) == (
        "other",
        "443",
        "p",
    )


def test_sources_prefix_and_precedence() -> None:
    found = variables(envFrom=[{"configMapRef": {"name": "cm"}, "prefix": "P_"}], env=[{"name": "P_k", "value": "own"}])
    assert (found["P_k"], found["P_n"]) == ("own", "")


def test_keys_of_objects() -> None:
    reference = {"name": "PW", "valueFrom": {"secretKeyRef": {"name": "s", "key": "pw"}}}
    optional = {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "none", "key": "k", "optional": True}}}
    found = variables(env=[reference, optional])
    assert found["PW"] == "x y"
    assert "O" not in found


@pytest.mark.parametrize(("name", "key", "text"), [("none", "k", "not found"), ("cm", "none", "couldn't find key")])
def test_missing_objects_and_keys_are_config_errors(name: str, key: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        variables(env=[{"name": "X", "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}])


def test_fields_of_the_pod() -> None:
    pod = pods.pod()
    assert field(pod, "status.podIP", AROUND) == "10.64.1.9"
    assert field(pod, "metadata.labels['b']", AROUND) == "2"
    assert field(pod, "metadata.labels['none']", AROUND) == ""
    assert field(pod, "metadata.labels", AROUND) == 'a="x\\"y"\nb="2"'
    with pytest.raises(FieldError):
        field(pod, "spec.nodeSelector", AROUND)


def test_resources_fall_back_to_the_nodes() -> None:
    spec = pods.container(resources={"limits": {"memory": "2Gi"}, "requests": {"cpu": "0"}})
    pod = pods.pod(spec)
    assert resource(pod, {"resource": "limits.memory", "divisor": "1Mi"}, "c", AROUND) == "2048"
    assert resource(pod, {"resource": "limits.cpu"}, "c", AROUND) == "8"
    assert resource(pod, {"resource": "requests.cpu", "divisor": "1m"}, "c", AROUND) == "0"


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("1500m", 1.5), ("2Ki", 2048), ("1e3", 1000), ("1.5G", 1.5e9), ("0", 0)]
)
def test_quantities(text: str, value: float) -> None:
    assert quantity.parse(text) == value


@pytest.mark.parametrize("text", ["", "x", "1Q", "1 Gi", "1mi"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        quantity.parse(text)


def test_words_that_are_run() -> None:
    image = Image("x", "/bin/x", ("/manager", "serve"))
    assert argv(image, [], ["--a"]) == ["/manager", "serve", "--a"]
    assert argv(image, ["/other", "x"], ["--a"]) == ["/other", "x", "--a"]
    replacing = Image("x", "/bin/x", ("/manager",), replace_command=True)
    assert argv(replacing, ["python3", "-u"], ["m.py"]) == ["/manager", "-u", "m.py"]


def test_a_pod_runs_here_only_if_all_its_images_do() -> None:
    table = parse({"images": [{"match": "(^|/)tool:", "program": "/bin/x", "entrypoint": ["/x"]}]})
    other = {"name": "o", "image": "mytool:1"}
    assert runs_here(pods.pod(), table)
    assert not runs_here(pods.pod(pods.container(), other), table)
    assert not runs_here(pods.pod(initContainers=[other]), table)
    assert not runs_here(pods.pod(), parse({}))


@pytest.mark.parametrize(
    "row",
    [
        {"match": "x"},
        {"match": "(", "program": "/x", "entrypoint": ["/x"]},
        {"match": "x", "entrypoint": [], "rootfs": "host"},
        {"match": "x", "entrypoint": [], "cmd": ["x"]},
        {"match": "x", "entrypoint": [], "cmd": ["x"], "rootfs": "host", "memory": "much"},
    ],
)
def test_faulty_rows_are_named(row: dict[str, Any]) -> None:
    with pytest.raises(TableError, match="row 0"):
        parse({"images": [row]})
