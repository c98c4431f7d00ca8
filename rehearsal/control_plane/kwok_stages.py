"""The stages that kwok simulates: the heartbeat of every node, and the life of every pod whose image runs no local program.

kwok has no behaviour of its own; each Stage says which objects it takes, after what delay, and what it makes of them
(kwok.sigs.k8s.io/docs/user/stages-configuration).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

HEARTBEAT_MS = 15_000
"""Well inside the 50 s after which the controller manager calls a node lost (kube-controller-manager's default)."""

_CONDITIONS = """
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
{{ end }}
phase: Running
"""

_STARTED = """
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
conditions:
{{ range (list "PodReadyToStartContainers" "Initialized") }}
- type: {{ . | Quote }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
{{ range (list "ContainersReady" "Ready") }}
- type: {{ . | Quote }}
  status: "READY"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: READY
  started: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state:
{{ if eq (or .restartPolicy "") "Always" }}
    running:
      startedAt: {{ $now | Quote }}
{{ else }}
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
{{ end }}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ $name := or .metadata.name "" }}
{{ $namespace := or .metadata.namespace "" }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) $name $namespace }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
"""

_RUNNING = _STARTED.replace('"READY"', '"True"').replace("READY", "true")
_NOT_READY = _STARTED.replace('"READY"', '"False"').replace("READY", "false")

_ENDED = """
{{ $now := Now }}
phase: PHASE
conditions:
{{ range (list "ContainersReady" "Ready") }}
- type: {{ . | Quote }}
  status: "False"
  reason: REASON
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
"""

_SUCCEEDED = (
    _ENDED.replace("PHASE", "Succeeded").replace("REASON", "PodCompleted")
    + """{{ $pod := . }}
containerStatuses:
{{ range $index, $container := .spec.containers }}
- name: {{ $container.name | Quote }}
  image: {{ $container.image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ (index $pod.status.containerStatuses $index).state.running.startedAt | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
"""
)

_STOPPED = (
    _ENDED.replace("PHASE", "Failed").replace("REASON", "PodFailed")
    + """
{{ with .status.containerStatuses }}
containerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state:
    terminated:
{{ with .state.terminated }}
      exitCode: {{ .exitCode }}
      reason: {{ or .reason "Error" | Quote }}
      startedAt: {{ or .startedAt $now | Quote }}
      finishedAt: {{ or .finishedAt $now | Quote }}
{{ else }}
      exitCode: 143
      reason: Error
{{ with .state.running }}
      startedAt: {{ .startedAt | Quote }}
{{ end }}
      finishedAt: {{ $now | Quote }}
{{ end }}
{{ end }}
{{ end }}
"""
)

Expression = Mapping[str, Any]


def simulated_only(patterns: Sequence[str]) -> list[Expression]:
    """Selects the pods that no local program runs: those with an image that none of `patterns` matches."""
    if not patterns:
        return []
    for pattern in patterns:
        re.compile(pattern)
    either = "|".join(f"({pattern})" for pattern in patterns)
    images = "(.spec.containers + (.spec.initContainers // []))[].image"
    return [{"key": f"{images} | select(test({json.dumps(either)}) | not)", "operator": "Exists"}]


def _stage(
    name: str, kind: str, expressions: Sequence[Expression], then: Mapping[str, Any], delay_ms: int | None = None
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": list(expressions)},
        "next": dict(then),
    }
    if delay_ms is not None:
        spec["delay"] = {"durationMilliseconds": delay_ms}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _is(key: str, operator: str, *values: str) -> Expression:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_DELETED, _PHASE = ".metadata.deletionTimestamp", ".status.phase"
_JOB = ".metadata.ownerReferences.[].kind"
_SUBMITTER = '.spec.containers[].env[]? | select( .name == "RAY_JOB_SUBMISSION_ID" )'
"""A pod that submits a Ray job ends with that job (rehearsal.gke.ray.simulator)."""
_RAY_NODE = '.metadata.labels["ray.io/node-type"]'
"""A head of a Ray cluster is ready when its dashboard answers (rehearsal.gke.ray.simulator)."""


def stages(patterns: Sequence[str], pod_duration_ms: int) -> list[dict[str, Any]]:
    """All stages: `patterns` are the images that local programs run, `pod_duration_ms` is how long a simulated job pod runs."""
    ours = simulated_only(patterns)
    pending = [_is(_DELETED, "DoesNotExist"), _is(_PHASE, "In", "Pending"), *ours]
    deleted = [_is(_DELETED, "Exists"), *ours]
    return [
        _stage("node-initialize", "Node", [_is(_READY, "NotIn", "True")], {"statusTemplate": _CONDITIONS}),
        _stage("node-heartbeat", "Node", [_is(_READY, "In", "True")], {"statusTemplate": _CONDITIONS}, HEARTBEAT_MS),
        _stage(
            "pod-ready",
            "Pod",
            [*pending, _is(_RAY_NODE, "NotIn", "head")],
            {"statusTemplate": _RUNNING},
        ),
        _stage("ray-head-start", "Pod", [*pending, _is(_RAY_NODE, "In", "head")], {"statusTemplate": _NOT_READY}),
        _stage(
            "pod-complete",
            "Pod",
            [
                _is(_DELETED, "DoesNotExist"),
                _is(_PHASE, "In", "Running"),
                _is(_JOB, "In", "Job"),
                _is(_SUBMITTER, "DoesNotExist"),
                *ours,
            ],
            {"statusTemplate": _SUCCEEDED},
            pod_duration_ms,
        ),
        # As a kubelet does: first all that ran has ended, then the pod goes. A Job with a policy for its pods' failures waits for it.
        _stage("pod-stop", "Pod", [*deleted, _is(_PHASE, "In", "Pending", "Running")], {"statusTemplate": _STOPPED}),
        _stage(
            "pod-delete",
            "Pod",
            [*deleted, _is(_PHASE, "NotIn", "Pending", "Running")],
            {"delete": True, "finalizers": {"empty": False}},
        ),
    ]


def render(patterns: Sequence[str], pod_duration_ms: int) -> str:
    """The stages as the YAML that kwok reads with --config."""
    return str(yaml.safe_dump_all(stages(patterns, pod_duration_ms), sort_keys=False))
