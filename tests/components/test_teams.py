"""Priorities and teams under a recording engine: what is made, in which order, and what a second team changes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.platforms import both

pytestmark = pytest.mark.unit

NAMESPACE = "kubernetes:core/v1:Namespace"
JOBS = [
    {"name": "low-job", "slices": 1, "priority": "low"},
    {"name": "team-job", "slices": 1, "team": "team-a", "priority": "high"},
]
PRIORITIES = [{"name": "low", "value": 100}, {"name": "high", "value": 1000, "pods": True}]


def team(name: str, **keys: Any) -> dict[str, Any]:
    members = {"users": [f"{name}@example.com"], "groups": [f"system:serviceaccounts:{name}"]}
    return {"name": name, "members": members, "flavors": {"vlp-24": {"chips": 8, "borrow": 8}}, **keys}


@pytest.fixture
def one_team(recorded):
    return recorded(teams=[team("team-a", weight=2)], priorities=PRIORITIES, workloads=JOBS)


def test_a_stack_without_teams_has_nothing_of_them(tutorial) -> None:
    kinds = ("ResourceQuota", "Role", "RoleBinding", "Namespace", "PriorityClass", "ValidatingAdmissionPolicy")
    assert not [r for r in tutorial.resources if r.type.startswith("kubernetes:") and r.type.endswith(kinds)]
    values = tutorial.named("kueue-release").inputs["values"]
    assert "fairSharing" not in yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])


def test_kueue_shares_fairly_where_there_are_teams(one_team) -> None:
    values = one_team.named("kueue-release").inputs["values"]
    configuration = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    assert configuration["fairSharing"] == {
        "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    }
    assert one_team.named("queue-team-a", "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue").inputs["spec"][
        "fairSharing"
    ] == {"weight": "2"}


def test_fair_sharing_can_be_switched_off(recorded) -> None:
    recording = recorded(teams=[team("team-a")], kueue={"fairSharing": False}, workloads=[])
    values = recording.named("kueue-release").inputs["values"]
    assert "fairSharing" not in yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])


def test_the_order_of_up_is_the_reverse_order_of_destroy(one_team) -> None:
    """job -> local queue -> namespace -> fence -> Kueue, and members have rights only under the ceiling."""
    local = one_team.named("queue-team-a/team-a", "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue")
    whole = one_team.named("queue-team-a", "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue")
    namespace = one_team.named("team-team-a-namespace")
    job = one_team.named("team-job-jobset")
    assert one_team.needs(job, local)
    assert one_team.needs(local, whole)
    assert one_team.needs(local, namespace)
    assert one_team.needs(whole, one_team.named("queue-vlp-24"))
    for policy in ("tpu-pods-of-teams", "tpu-jobs-of-teams"):
        binding = one_team.named(f"fence-{policy}-binding")
        assert one_team.needs(namespace, binding)
        assert one_team.needs(binding, one_team.named(f"fence-{policy}"))
        assert one_team.needs(binding, one_team.named("kueue-release"))
    members = one_team.named("team-team-a-members")
    for earlier in ("team-team-a-member", "team-team-a-ceiling", "team-team-a-namespace"):
        assert one_team.needs(members, one_team.named(earlier))
    assert not one_team.needs(one_team.named("low-job-jobset"), namespace)


def test_jobs_come_after_their_classes(one_team) -> None:
    low, high, pods = (one_team.named(name) for name in ("priority-low", "priority-high", "priority-high-pods"))
    assert one_team.needs(one_team.named("low-job-jobset"), low)
    assert not one_team.needs(one_team.named("low-job-jobset"), high)
    assert one_team.needs(one_team.named("team-job-jobset"), pods)
    for resource in (low, high, pods):
        assert one_team.needs(resource, one_team.named("kueue-release"))
    assert (low.inputs["value"], pods.inputs["value"]) == (100, 1000)
    assert [r.name for r in one_team.resources if r.type.endswith(":PriorityClass")] == ["priority-high-pods"]
    assert pods.replace_on_changes == ("value",)


def test_a_priority_is_a_label_or_moves_pods_too(one_team) -> None:
    low, high = one_team.named("low-job-jobset").inputs, one_team.named("team-job-jobset").inputs
    label = "kueue.x-k8s.io/priority-class"
    assert low["metadata"]["labels"][label] == "low"
    assert label not in high["metadata"]["labels"]

    def pod(inputs: dict[str, Any]) -> dict[str, Any]:
        return inputs["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]

    assert "priorityClassName" not in pod(low)
    assert pod(high)["priorityClassName"] == "high"


def test_a_ray_jobs_priority_is_on_all_of_its_pods(recorded) -> None:
    jobs = [{"name": "ray-1", "priority": "high"}, {"name": "ray-2", "priority": "low"}]
    recording = recorded(**both(priorities=PRIORITIES, ray={"operator": "addon", "jobs": jobs}))
    spec = recording.named("ray-1-rayjob").inputs["spec"]
    cluster = spec["rayClusterSpec"]
    pods = [
        cluster["headGroupSpec"]["template"]["spec"],
        cluster["workerGroupSpecs"][0]["template"]["spec"],
        spec["submitterPodTemplate"]["spec"],
    ]
    assert [pod["priorityClassName"] for pod in pods] == ["high"] * 3
    low = recording.named("ray-2-rayjob").inputs
    assert low["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "low"


def test_a_teams_ray_job_is_in_its_namespace_with_its_script(recorded) -> None:
    ray = {"operator": "addon", "jobs": [{"name": "ray-a", "team": "team-a"}]}
    recording = recorded(teams=[team("team-a", namespace="research", cpu={})], workloads=[], ray=ray)
    job = recording.named("ray-a-rayjob")
    assert job.inputs["metadata"]["namespace"] == "research"
    assert job.inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    script = recording.named("files-research-ray_programs")
    assert script.inputs["metadata"]["namespace"] == "research"
    assert recording.needs(job, script)
    assert recording.needs(
        job, recording.named("queue-research/team-a", "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue")
    )


def test_members_have_rights_in_their_namespace_only(one_team) -> None:
    assert not [r for r in one_team.resources if ":ClusterRole" in r.type]
    role, binding = one_team.named("team-team-a-member").inputs, one_team.named("team-team-a-members").inputs
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "team-a"
    assert [(s["kind"], s["name"]) for s in binding["subjects"]] == [
        ("User", "team-a@example.com"),
        ("Group", "system:serviceaccounts:team-a"),
    ]
    writable = {name for rule in role["rules"] if "create" in rule["verbs"] for name in rule["resources"]}
    assert writable == {"jobs", "jobsets", "rayjobs", "configmaps"}
    assert not [rule for rule in role["rules"] if "*" in (*rule["verbs"], *rule["resources"], *rule["apiGroups"])]


def test_a_team_without_members_has_no_binding(recorded) -> None:
    recording = recorded(teams=[{"name": "team-a", "flavors": {"vlp-24": {"chips": 8}}}], workloads=[])
    assert recording.named("team-team-a-member")
    assert not [r for r in recording.resources if r.type.endswith(":RoleBinding")]


def test_a_namespace_can_have_another_name_than_its_team(recorded) -> None:
    recording = recorded(teams=[team("team-a", namespace="research")], workloads=[])
    names = [r.inputs["metadata"]["name"] for r in recording.of_type(NAMESPACE)]
    assert names == ["research"]
    spec = recording.named("queue-team-a", "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue").inputs["spec"]
    assert spec["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "research"}}


def test_a_second_team_replaces_nothing_and_takes_its_chips_from_the_shared_queue(recorded) -> None:
    first = recorded(teams=[team("team-a")], workloads=[])
    second = recorded(teams=[team("team-a"), team("team-b")], workloads=[])
    before = {resource.urn: resource for resource in first.resources}
    after = {resource.urn: resource for resource in second.resources}
    assert set(before) <= set(after)
    changed = [r.name for urn, r in before.items() if after[urn].inputs != r.inputs]
    assert changed == ["queue-cluster-queue"]
    own = [r for urn, r in after.items() if urn not in before and not r.type.startswith("tpu-platform:")]
    assert {r.name for r in own} == {
        "team-team-b-namespace",
        "team-team-b-ceiling",
        "team-team-b-member",
        "team-team-b-members",
        "queue-team-b",
        "queue-team-b/team-b",
    }


def test_a_flavor_that_several_queues_give_out_is_one_object(recorded) -> None:
    recording = recorded(teams=[team("team-a"), team("team-b")], workloads=[])
    flavors = recording.of_type("kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor")
    assert [flavor.name for flavor in flavors] == ["queue-vlp-24"]


def test_a_first_team_changes_no_pool_and_no_flavor(recorded, tutorial) -> None:
    with_team = recorded(teams=[team("team-a", flavors={"vlp-24": {"chips": 0, "borrow": 8}})])
    after = {resource.urn: resource.inputs for resource in with_team.resources}
    assert [r.name for r in tutorial.resources if after[r.urn] != r.inputs] == ["kueue-release"]


def test_groups_of_google_accounts_are_known_by_the_group_that_holds_them(recorded, tutorial) -> None:
    kind = "gcp:container/cluster:Cluster"
    holder = "gke-security-groups@example.com"
    with_groups = recorded(
        cluster={"name": "multislice-cluster", "securityGroup": holder},
        teams=[team("team-a", members={"groups": ["team-a@example.com"]})],
        workloads=[],
    )
    assert with_groups.of_type(kind)[0].inputs["authenticatorGroupsConfig"] == {"securityGroup": holder}
    assert "authenticatorGroupsConfig" not in tutorial.of_type(kind)[0].inputs
