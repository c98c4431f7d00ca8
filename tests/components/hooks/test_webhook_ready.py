"""The readiness gate and the recovery of interrupted releases, against an API server made of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from components.hooks.helm_recovery import forget, patiently
from components.hooks.kubernetes_api import Answer, object_path
from components.hooks.webhook_readiness import Readiness, failing_webhook, readiness, why_not_ready
from components.hooks.webhook_ready import Controller, GateError, manifest_of, pauses, wait_until_admitted

pytestmark = pytest.mark.unit

KUEUE = Controller("Kueue", "kueue-system", "kueue-controller-manager")
FLAVOR = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "vlp-24"}, "spec": {}}
REFUSED = Answer(
    500,
    'Internal error occurred: failed calling webhook "mresourceflavor.kb.io": failed to call webhook: '
    "dial tcp 10.64.0.5:9443: connect: connection refused",
)
PENDING = {
    "metadata": {"name": "kueue-controller-manager-6d5f-x2x"},
    "status": {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 2 Insufficient cpu."}
        ],
    },
}


class FakeApi:
    """Gives its answers in turn, the last one for ever; an exception is raised."""

    def __init__(self, *answers: Answer | Exception, pods: list[dict[str, Any]] | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self._pods = pods if pods is not None else []

    def dry_run(self, manifest: Mapping[str, Any]) -> Answer:
        self.asked.append(manifest)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pods(self, namespace: str) -> list[dict[str, Any]]:
        return self._pods

    def release_records(self, namespace: str, release: str) -> list[dict[str, Any]]:
        return self.records

    def delete_secret(self, namespace: str, name: str) -> None:
        self.deleted.append(name)


def wait(api: FakeApi, timeout: float = 60) -> float:
    """Runs the gate on a clock of its own and returns how long it waited."""
    now = [0.0]

    async def sleep(pause: float) -> None:
        now[0] += pause

    asyncio.run(wait_until_admitted(api, FLAVOR, KUEUE, timeout, sleep, lambda: now[0]))
    return now[0]


def test_an_object_that_is_admitted_passes_at_once() -> None:
    assert wait(FakeApi(Answer(201, ""))) == 0


def test_the_gate_asks_again_while_the_webhook_refuses_connections() -> None:
    api = FakeApi(
        REFUSED,
        REFUSED,
        ConnectionRefusedError("no"),
        Answer(404, "the server could not find the requested resource"),
        Answer(201, ""),
    )
    assert wait(api) > 0
    assert len(api.asked) == 5


def test_an_existing_object_has_passed_its_webhooks() -> None:
    assert wait(FakeApi(Answer(409, 'resourceflavors.kueue.x-k8s.io "vlp-24" already exists'))) == 0


@pytest.mark.parametrize(
    "answer",
    [
        Answer(403, 'admission webhook "vresourceflavor.kb.io" denied the request: spec.nodeLabels: too many'),
        Answer(400, 'strict decoding error: unknown field "spec.cohort"'),
        Answer(422, "ClusterQueue is invalid: spec.queueingStrategy: Unsupported value"),
        Answer(404, 'namespaces "team-a" not found'),
    ],
    ids=["denied", "unknown field", "invalid", "no namespace"],
)
def test_a_wrong_object_fails_at_once_with_the_servers_words(answer) -> None:
    api = FakeApi(answer)
    with pytest.raises(GateError) as caught:
        wait(api)
    assert answer.message in str(caught.value)
    assert len(api.asked) == 1


def test_a_timeout_names_the_webhook_and_why_its_pod_does_not_run() -> None:
    with pytest.raises(GateError) as caught:
        wait(FakeApi(REFUSED, pods=[PENDING]))
    text = str(caught.value)
    assert "webhook mresourceflavor.kb.io did not answer within 60 s" in text
    assert "kueue-controller-manager has no ready endpoint" in text
    assert "is Pending because 0/2 nodes are available: 2 Insufficient cpu." in text


def test_the_wait_is_bounded_and_the_pauses_grow_to_five_seconds() -> None:
    api = FakeApi(REFUSED)
    with pytest.raises(GateError):
        wait(api, timeout=60)
    assert len(api.asked) < 25
    generator = pauses()
    first = [next(generator) for _ in range(12)]
    assert first == sorted(first)
    assert first[-1] == 5.0


def test_what_is_retried_and_what_is_final() -> None:
    assert readiness(Answer(503, "no answer")) is Readiness.RETRY
    assert readiness(Answer(429, "slow down")) is Readiness.RETRY
    assert readiness(Answer(401, "Unauthorized")) is Readiness.DENIED
    assert failing_webhook(REFUSED.message) == "mresourceflavor.kb.io"
    assert failing_webhook("other") is None


def test_reasons_of_pods_that_crash_or_are_missing() -> None:
    crashing = {
        "metadata": {"name": "kueue-controller-manager-1"},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"name": "manager", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
        },
    }
    assert "container manager waits: CrashLoopBackOff" in why_not_ready(KUEUE.deployment, [crashing])
    assert "it has no pod" in why_not_ready(KUEUE.deployment, [])
    ready = {
        "metadata": {"name": "kueue-controller-manager-1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    assert "does not reach it" in why_not_ready(KUEUE.deployment, [ready])


def pod(name: str, digest: str, created: str, *, ready: bool, **container: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"{KUEUE.deployment}-{digest}-{name}",
            "labels": {"control-plane": "controller-manager", "pod-template-hash": digest},
            "creationTimestamp": created,
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{"name": "manager", "ready": ready, **container}],
        },
    }


OLD = pod("aaaaa", "6d5f", "2026-11-30T09:00:00Z", ready=True, state={"running": {}})
CRASHING = pod(
    "bbbbb",
    "7c9d",
    "2026-11-30T10:00:00Z",
    ready=False,
    state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=manager"}},
    lastState={
        "terminated": {"exitCode": 1, "reason": "Error", "message": "starting\nunrecognized feature gate: FooBar\n"}
    },
)


def test_a_new_pod_that_crashes_beside_a_ready_old_one_is_named() -> None:
    text = why_not_ready(KUEUE.deployment, [OLD, CRASHING])
    assert "has a ready pod, but the API server does not reach it" in text
    assert "kueue-controller-manager-7c9d-bbbbb" in text
    assert "exit code 1 and said: unrecognized feature gate: FooBar" in text


def test_of_pods_that_are_not_ready_the_newest_is_named() -> None:
    older = pod("ccccc", "5b8e", "2026-11-30T08:00:00Z", ready=False, state={"waiting": {"reason": "ErrImagePull"}})
    for pods in ([older, CRASHING], [CRASHING, older]):
        assert "exit code 1" in why_not_ready(KUEUE.deployment, pods)
    assert "ErrImagePull" not in why_not_ready(KUEUE.deployment, [older, {**OLD}, CRASHING])


def test_an_old_pod_that_is_not_ready_says_nothing_of_a_ready_new_one() -> None:
    new = pod("ddddd", "7c9d", "2026-11-30T10:00:00Z", ready=True, state={"running": {}})
    old = pod("aaaaa", "6d5f", "2026-11-30T09:00:00Z", ready=False, state={"running": {}})
    assert "newest" not in why_not_ready(KUEUE.deployment, [old, new])


def test_the_object_is_sent_without_the_engines_own_keys_and_with_whole_numbers() -> None:
    inputs = {**FLAVOR, "__defaults": [], "spec": {"replicas": 2.0, "list": [1.0, 1.5], "flag": True}}
    assert manifest_of(inputs)["spec"] == {"replicas": 2, "list": [1, 1.5], "flag": True}
    assert "__defaults" not in manifest_of(inputs)


def test_paths_of_cluster_wide_and_namespaced_objects() -> None:
    assert object_path(FLAVOR) == "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
    job = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a", "namespace": "team"}}
    assert object_path(job) == "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets"


def test_an_interrupted_installation_is_forgotten_and_finished_revisions_are_kept() -> None:
    records = [
        {"name": "sh.helm.release.v1.kueue.v1", "labels": {"status": "deployed"}},
        {"name": "sh.helm.release.v1.kueue.v2", "labels": {"status": "pending-upgrade"}},
    ]
    upgrade, install = FakeApi(Answer(201, "")), FakeApi(Answer(201, ""))
    upgrade.records = install.records = records
    forget(upgrade, "kueue-system", "kueue", pending_only=True)
    forget(install, "kueue-system", "kueue", pending_only=False)
    assert upgrade.deleted == ["sh.helm.release.v1.kueue.v2"]
    assert install.deleted == [record["name"] for record in records]


def run_patiently(attempt) -> None:
    now = [0.0]

    async def sleep(pause: float) -> None:
        now[0] += pause

    asyncio.run(patiently(attempt, "Helm release kueue", 30, sleep, lambda: now[0]))


def test_the_recovery_waits_for_an_api_server_that_is_away_for_a_moment() -> None:
    outcomes: list[Exception | None] = [ConnectionRefusedError("no"), ApiException(status=503), None]

    def attempt() -> None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome

    run_patiently(attempt)
    assert outcomes == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError("no"), "did not answer within 30 s"),
        (ApiException(status=401, reason="Unauthorized"), "refuses us"),
    ],
)
def test_the_recovery_gives_up_in_one_sentence(error, text) -> None:
    def attempt() -> None:
        raise error

    with pytest.raises(GateError, match=text):
        run_patiently(attempt)
