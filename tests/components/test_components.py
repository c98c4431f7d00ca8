"""The components under a recording engine: what is registered, in which order, with which options."""

from __future__ import annotations

import itertools
import json

import pytest
import yaml

from components.slice_pool import LANES
from settings.catalogue import versions
from tests.support.platforms import BOTH, TUTORIAL, both, with_slice

pytestmark = pytest.mark.unit

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
SERVICE = "gcp:projects/service:Service"
RELEASE = "kubernetes:helm.sh/v3:Release"

NODE_CONFIG = {
    "serviceAccount": "multislice-cluster-nodes@some-project.iam.gserviceaccount.com",
    "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
    "tags": ["multislice-cluster-node"],
    "gcfsConfig": {"enabled": True},
    "workloadMetadataConfig": {"mode": "GKE_METADATA"},
}
"""The fields that every node pool has in common."""


def is_component(resource) -> bool:
    return resource.type.startswith("tpu-platform:")


def test_every_component_registers_its_outputs_once_and_has_a_well_formed_type(tutorial) -> None:
    components = [resource for resource in tutorial.resources if is_component(resource)]
    assert len(components) == 14
    for component in components:
        assert component.outputs is not None, component.name
        _, module, name = component.type.split(":")
        assert module.islower()
        assert name[0].isupper()


def test_every_resource_has_a_component_as_parent_and_an_explicit_provider(tutorial) -> None:
    components = {resource.urn for resource in tutorial.resources if is_component(resource)}
    for resource in tutorial.resources:
        if is_component(resource) or resource.type.startswith("pulumi:providers:"):
            continue
        assert resource.parent in components, resource.name
        package = resource.type.split(":", 1)[0]
        assert f"pulumi:providers:{package}::" in resource.provider, resource.name


def test_apis_are_never_disabled(tutorial) -> None:
    services = tutorial.of_type(SERVICE)
    assert len(services) >= 8
    for service in services:
        assert service.inputs["disableOnDestroy"] is False
        assert service.inputs["disableDependentServices"] is False


def test_every_google_resource_waits_for_an_api(tutorial) -> None:
    services = tutorial.of_type(SERVICE)
    for resource in tutorial.resources:
        if resource.type.startswith("gcp:") and resource.type != SERVICE:
            assert any(tutorial.needs(resource, service) for service in services), resource.name


def test_a_pool_asks_for_what_gcloud_asks_field_by_field(tutorial) -> None:
    """gcloud: initialNodeCount 2, one location, repair and upgrade on, maxSurge 1, topology 2x4. Ours adds the type
    of the placement, an account with one scope, a tag, image streaming and the metadata server."""
    inputs = dict(tutorial.named("nodepool1-pool").inputs)
    config = inputs.pop("nodeConfig")
    inputs.pop("project")
    assert inputs == {
        "name": "nodepool1",
        "cluster": "multislice-cluster",
        "location": "us-west4",
        "nodeCount": 2,
        "nodeLocations": ["us-west4-a"],
        "management": {"autoRepair": True, "autoUpgrade": True},
        "upgradeSettings": {"maxSurge": 1},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "2x4"},
    }
    assert config == {"machineType": "ct5lp-hightpu-4t", **NODE_CONFIG}


@pytest.mark.parametrize("name", ["tutorial", "both_tutorials"])
def test_all_nodes_run_as_their_own_account_behind_the_metadata_server(request, name: str) -> None:
    """With `GCE_METADATA` in place of `GKE_METADATA` every pod would get the node's own account, as Google's page "About
    Workload Identity Federation for GKE" says."""
    pools = request.getfixturevalue(name).of_type(POOL)
    assert {pool.inputs["name"] for pool in pools} > {"default-pool", "nodepool1"}
    for pool in pools:
        config = pool.inputs["nodeConfig"]
        cluster = pool.inputs["cluster"]
        expected = {
            **NODE_CONFIG,
            "serviceAccount": f"{cluster}-nodes@some-project.iam.gserviceaccount.com",
            "tags": [f"{cluster}-node"],
        }
        assert {key: config.get(key) for key in NODE_CONFIG} == expected, pool.name


def test_the_account_of_the_nodes_holds_the_roles_of_a_node_and_no_others(tutorial) -> None:
    """The roles of GKE's page "Harden your cluster's security" (least privilege for node service accounts), and the one that
    pulls images from Artifact Registry. Without one of the first five a node writes no logs, metrics or metadata."""
    grants = tutorial.of_type("gcp:projects/iAMMember:IAMMember")
    account = "serviceAccount:multislice-cluster-nodes@some-project.iam.gserviceaccount.com"
    assert sorted(grant.inputs["role"] for grant in grants) == [
        "roles/artifactregistry.reader",
        "roles/autoscaling.metricsWriter",
        "roles/logging.logWriter",
        "roles/monitoring.metricWriter",
        "roles/monitoring.viewer",
        "roles/stackdriver.resourceMetadata.writer",
    ]
    for grant in grants:
        assert (grant.inputs["member"], grant.inputs["project"]) == (account, "some-project")
    for pool in tutorial.of_type(POOL):
        for grant in grants:
            assert tutorial.needs(pool, grant), f"{pool.name} may start before {grant.name}"


def test_a_pool_is_replaced_by_another_machine_type_old_one_first(tutorial) -> None:
    for name in ("nodepool1", "nodepool2", "nodepool3"):
        pool = tutorial.named(f"{name}-pool")
        assert "nodeConfig.machineType" in pool.replace_on_changes
        assert pool.delete_before_replace
        assert pool.timeouts == ("60m", "60m", "60m")


def test_a_single_host_pool_has_no_placement(recorded) -> None:
    slices = [{**TUTORIAL["slices"][0], "machineType": "ct5lp-hightpu-8t"}]
    pool = recorded(slices=slices, workloads=[]).named("nodepool1-pool")
    assert "placementPolicy" not in pool.inputs
    assert pool.inputs["nodeCount"] == 1


def test_a_7x_slice_gets_a_workload_policy_and_an_empty_placement_type(recorded) -> None:
    slices = [
        {
            "flavor": "seven",
            "machineType": "tpu7x-standard-4t",
            "topology": "2x2x2",
            "zone": "us-central1-c",
            "pools": ["p"],
        }
    ]
    recording = recorded(location="us-central1", slices=slices, workloads=[])
    assert recording.named("p-placement").inputs["workloadPolicy"]["type"] == "HIGH_THROUGHPUT"
    assert recording.named("p-pool").inputs["placementPolicy"] == {
        "type": "",
        "policyName": "multislice-cluster-p",
        "tpuTopology": "2x2x2",
    }


def test_7x_slices_of_long_names_have_workload_policies_of_their_own(recorded) -> None:
    pools = [f"{'p' * 38}{end}" for end in ("-a", "-b")]
    shape = {"machineType": "tpu7x-standard-4t", "topology": "2x2x2", "zone": "us-central1-c"}
    slices = [{"flavor": "seven", **shape, "pools": pools}]
    cluster = {"name": "c" * 40}
    recording = recorded(location="us-central1", cluster=cluster, slices=slices, workloads=[])
    names = {recording.named(f"{pool}-placement").inputs["name"] for pool in pools}
    assert len(names) == 2
    assert all(len(name) <= 63 for name in names)


def test_at_most_four_pools_are_in_the_making(recorded) -> None:
    names = [f"nodepool{index}" for index in range(1, 8)]
    recording = recorded(slices=[{**TUTORIAL["slices"][0], "pools": names}])
    pools = [recording.named(f"{name}-pool") for name in names]
    for earlier, later in zip(pools, pools[LANES:], strict=False):
        assert recording.needs(later, earlier)
    assert not recording.needs(pools[LANES - 1], pools[0])


def test_the_cluster_is_private_vpc_native_and_standard(tutorial) -> None:
    cluster = tutorial.of_type(CLUSTER)[0].inputs
    assert "enableAutopilot" not in cluster
    assert cluster["privateClusterConfig"]["enablePrivateNodes"] is True
    assert cluster["networkingMode"] == "VPC_NATIVE"
    assert cluster["workloadIdentityConfig"] == {"workloadPool": "some-project.svc.id.goog"}
    assert cluster["deletionProtection"] is False
    assert cluster["removeDefaultNodePool"] is True
    assert cluster["nodeLocations"] == ["us-west4-a"]


def test_protection_is_on_unless_the_stack_turns_it_off(recorded, tutorial) -> None:
    protected = recorded(deletionProtection=None)
    assert protected.of_type(CLUSTER)[0].protect
    assert protected.of_type(CLUSTER)[0].inputs["deletionProtection"] is True
    assert protected.named("nodepool1-pool").protect
    assert not tutorial.of_type(CLUSTER)[0].protect
    assert not tutorial.named("nodepool1-pool").protect


def test_the_control_plane_may_reach_webhooks_on_our_nodes_and_nothing_else(tutorial) -> None:
    rule = tutorial.of_type("gcp:compute/firewall:Firewall")[0].inputs
    assert rule["sourceRanges"] == ["172.16.0.0/28"]
    assert rule["allows"] == [{"protocol": "tcp", "ports": ["9443", "8082"]}]
    tags = {tag for pool in tutorial.of_type(POOL) for tag in pool.inputs["nodeConfig"]["tags"]}
    assert rule["targetTags"] == list(tags)


def test_a_given_network_is_used_and_not_made(recorded) -> None:
    given = {"network": "shared", "subnetwork": "sub", "podsRange": "p", "servicesRange": "s", "firewall": False}
    recording = recorded(network={"existing": given})
    assert not [resource for resource in recording.resources if resource.type.startswith("gcp:compute/")]
    assert recording.of_type(CLUSTER)[0].inputs["network"] == "shared"


def test_releases_have_the_fixed_names_pinned_versions_and_released_images(tutorial) -> None:
    kueue, jobset = tutorial.named("kueue-release").inputs, tutorial.named("jobset-release").inputs
    assert (kueue["name"], kueue["namespace"], kueue["version"]) == ("kueue", "kueue-system", versions.KUEUE_VERSION)
    assert (jobset["name"], jobset["namespace"], jobset["version"]) == (
        "jobset",
        "jobset-system",
        versions.JOBSET_VERSION,
    )
    assert kueue["values"]["controllerManager"]["manager"]["image"]["repository"] == "registry.k8s.io/kueue/kueue"
    assert jobset["values"]["image"]["tag"] == f"v{versions.JOBSET_VERSION}"
    text = kueue["values"]["managerConfig"]["controllerManagerConfigYaml"]
    assert yaml.safe_load(text)["waitForPodsReady"]["timeout"] == "30m"


def test_a_chart_from_a_folder_has_no_version(recorded, tmp_path, monkeypatch) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "Chart.yaml").write_text("name: kueue\n")
    monkeypatch.chdir(tmp_path)
    recording = recorded(charts={"kueue": "chart"})
    assert recording.named("kueue-release").inputs["chart"] == "chart"
    assert "version" not in recording.named("kueue-release").inputs


def test_ray_jobs_are_submitted_anew_under_another_operator(both_tutorials, recorded) -> None:
    """GKE's add-on takes them along when it is switched off."""
    by_helm = recorded(**both(ray={**BOTH["ray"], "operator": "helm"}))
    for recording, operator in ((both_tutorials, "addon"), (by_helm, "helm")):
        job = recording.named("ray-1-rayjob")
        assert (job.replacement_trigger, job.delete_before_replace) == (operator, True)
        assert recording.named("multislice-3slice-jobset").replacement_trigger == ""


def test_the_order_of_up_is_the_reverse_order_of_destroy(tutorial) -> None:
    """jobs -> local queue -> cluster queue -> flavor -> Kueue -> JobSet -> default pool -> cluster -> network."""
    chain = [
        "multislice-1slice-jobset", "multislice-3slice-jobset", "queue-multislice-queue", "queue-cluster-queue",
        "queue-vlp-24", "kueue-release", "jobset-release", "cluster-default-pool",
    ]  # fmt: skip
    resources = [*(tutorial.named(name) for name in chain), tutorial.of_type(CLUSTER)[0], tutorial.named("network-nat")]
    for later, earlier in itertools.pairwise(resources):
        assert tutorial.needs(later, earlier), f"{later.name} does not wait for {earlier.name}"


def test_queues_wait_for_every_pool(tutorial) -> None:
    flavor = tutorial.named("queue-vlp-24")
    for name in ("nodepool1", "nodepool2", "nodepool3"):
        assert tutorial.needs(flavor, tutorial.named(f"{name}-pool"))


def test_two_jobs_take_their_turn_after_the_first_and_do_not_wait_for_each_other(tutorial) -> None:
    three, two, one = (tutorial.named(f"multislice-{n}slice-jobset") for n in (3, 2, 1))
    assert three.hooks["before_create"] == ("jobset-webhook-gate",)
    for job in (two, one):
        assert tutorial.needs(job, three)
        assert job.hooks["before_create"] == (f"{job.inputs['metadata']['name']}-turn", "jobset-webhook-gate")
        assert job.hooks["before_update"] == ("jobset-webhook-gate",)
    assert not tutorial.needs(one, two)
    assert not tutorial.needs(two, one)


def test_every_object_that_a_webhook_admits_has_a_gate_and_a_literal_name(tutorial) -> None:
    objects = [r for r in tutorial.resources if r.type.startswith(("kubernetes:kueue", "kubernetes:jobset"))]
    assert len(objects) == 6
    for resource in objects:
        gate = "jobset-webhook-gate" if "JobSet" in resource.type else "kueue-webhook-gate"
        assert resource.hooks["before_create"][-1] == gate
        assert resource.hooks["before_update"] == (gate,)
        assert resource.inputs["metadata"]["name"]


def test_another_spec_is_another_job_under_the_same_name(tutorial) -> None:
    job = tutorial.named("multislice-1slice-jobset")
    assert job.replace_on_changes == ("spec",)
    assert job.delete_before_replace


def test_up_waits_until_queues_are_active(tutorial) -> None:
    for name in ("queue-cluster-queue", "queue-multislice-queue"):
        assert tutorial.named(name).inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Active"}


def test_the_kubernetes_provider_has_the_endpoint_the_ca_and_the_plugin_and_no_credentials(tutorial) -> None:
    provider = tutorial.of_type("pulumi:providers:kubernetes")[0]
    secret = provider.inputs["kubeconfig"]
    config = json.loads(secret["value"] if isinstance(secret, dict) else secret)
    assert config["clusters"][0]["cluster"] == {
        "server": "https://172.16.0.2",
        "certificate-authority-data": "Q0E=",
    }
    assert list(config["users"][0]["user"]) == ["exec"]
    assert config["users"][0]["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert provider.inputs["enableServerSideApply"] == "true"


def test_changing_a_label_changes_the_cluster_and_nothing_else(recorded, tutorial) -> None:
    other = recorded(labels={"team": "research"})
    before = {resource.urn: resource.inputs for resource in tutorial.resources}
    assert [r.type for r in other.resources if r.inputs != before[r.urn]] == [CLUSTER]


def test_a_namespace_of_its_own_is_made_before_its_queue(recorded) -> None:
    recording = recorded(queues=[{"namespace": "research"}])
    assert recording.needs(
        recording.named("queue-research/multislice-queue"), recording.named("queue-research-namespace")
    )
    assert recording.named("multislice-1slice-jobset").inputs["metadata"]["namespace"] == "research"


# -- both tutorials ---------------------------------------------------------------------------------------------------


def test_a_pool_on_demand_scales_from_zero_and_takes_no_reservation(both_tutorials) -> None:
    inputs = both_tutorials.named("on-demand-pool-pool").inputs
    assert "nodeCount" not in inputs
    assert "initialNodeCount" not in inputs
    assert inputs["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4}
    assert inputs["management"] == {"autoRepair": True, "autoUpgrade": True}
    assert inputs["upgradeSettings"] == {"maxSurge": 1}
    config = inputs["nodeConfig"]
    assert config["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert not {"flexStart", "spot", "maxRunDuration", "labels"} & set(config)
    assert "queuedProvisioning" not in inputs


def test_a_queued_pool_states_what_dws_needs(both_tutorials) -> None:
    inputs = both_tutorials.named("dws-pool-pool").inputs
    assert inputs["queuedProvisioning"] == {"enabled": True}
    assert inputs["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert inputs["management"] == {"autoRepair": False, "autoUpgrade": True}
    assert inputs["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    config = inputs["nodeConfig"]
    assert (config["flexStart"], config["maxRunDuration"]) == (True, "604800s")
    assert config["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert not {"nodeCount", "initialNodeCount", "upgradeSettings"} & set(inputs)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"capacity": "flex-start"}, {"flexStart": True, "maxRunDuration": "604800s"}),
        ({"capacity": "flex-start", "maxRunDuration": "24h"}, {"flexStart": True, "maxRunDuration": "86400s"}),
        ({"capacity": "spot"}, {"spot": True}),
    ],
)
def test_other_capacities_than_dws_are_not_queued(recorded, changes, fields) -> None:
    inputs = recorded(**both(slices=with_slice(2, **changes))).named("dws-pool-pool").inputs
    assert "queuedProvisioning" not in inputs
    assert {key: inputs["nodeConfig"][key] for key in fields} == fields
    assert inputs["nodeConfig"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}


def test_a_reservation_is_taken_by_name(recorded) -> None:
    slices = with_slice(2, capacity="reservation", reservation="research-2026")
    inputs = recorded(**both(slices=slices)).named("dws-pool-pool").inputs
    assert inputs["nodeConfig"]["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["research-2026"],
    }
    assert inputs["nodeCount"] == 4


def test_several_pools_of_a_shared_shape_carry_their_flavor_as_a_label(recorded) -> None:
    recording = recorded(**both(slices=with_slice(2, pools=["dws-1", "dws-2"])))
    for name in ("dws-1", "dws-2"):
        assert recording.named(f"{name}-pool").inputs["nodeConfig"]["labels"] == {"tpu-platform/flavor": "dws"}
    flavor = recording.named("queue-dws").inputs
    shape = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    assert flavor["spec"] == {"nodeLabels": {**shape, "tpu-platform/flavor": "dws"}}


def test_the_ray_operator_is_an_addon_or_a_release_or_not_there(recorded, both_tutorials, tutorial) -> None:
    addon = both_tutorials.of_type(CLUSTER)[0].inputs
    assert addon["addonsConfig"] == {"rayOperatorConfigs": [{"enabled": True}]}
    assert not [r for r in both_tutorials.resources if r.name == "kuberay-operator-release"]
    helm = recorded(**both(ray={**BOTH["ray"], "operator": "helm"}))
    off = {"rayOperatorConfigs": [{"enabled": False}]}
    assert helm.of_type(CLUSTER)[0].inputs["addonsConfig"] == off
    release = helm.named("kuberay-operator-release")
    assert (release.inputs["chart"], release.inputs["version"]) == ("kuberay-operator", versions.KUBERAY_VERSION)
    assert release.inputs["repositoryOpts"] == {"repo": "https://ray-project.github.io/kuberay-helm"}
    assert helm.needs(helm.named("kueue-release"), release)
    assert tutorial.of_type(CLUSTER)[0].inputs["addonsConfig"] == off


def test_kueue_knows_ray_where_there_is_ray(both_tutorials, tutorial) -> None:
    def kueue(recording) -> dict:
        values = recording.named("kueue-release").inputs["values"]
        return yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])

    assert kueue(tutorial)["integrations"]["frameworks"] == ["batch/job", "jobset.x-k8s.io/jobset"]
    assert "ray.io/rayjob" in kueue(both_tutorials)["integrations"]["frameworks"]


def test_gates_and_readiness_of_kueue_are_stated(recorded) -> None:
    kueue = {"featureGates": {"ElasticJobsViaWorkloadSlices": False}, "podsReady": {"enabled": False}}
    values = recorded(kueue=kueue).named("kueue-release").inputs["values"]
    assert values["controllerManager"]["featureGates"] == [
        {"name": "DisableWaitForPodsReady", "enabled": True},
        {"name": "ElasticJobsViaWorkloadSlices", "enabled": False},
    ]
    assert "waitForPodsReady" not in values["managerConfig"]["controllerManagerConfigYaml"]


def test_the_check_is_made_before_the_queue_that_names_it_and_after_its_config(both_tutorials) -> None:
    chain = ["queue-user-queue", "queue-b-queue", "queue-dws-prov", "queue-dws-config", "kueue-release"]
    resources = [both_tutorials.named(name) for name in chain]
    for later, earlier in itertools.pairwise(resources):
        assert both_tutorials.needs(later, earlier), f"{later.name} does not wait for {earlier.name}"
    check = both_tutorials.named("queue-dws-prov").inputs
    assert check["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Active"}


def test_the_second_ray_job_waits_for_the_first_and_both_for_the_script(both_tutorials) -> None:
    one, two = both_tutorials.named("ray-1-rayjob"), both_tutorials.named("ray-2-rayjob")
    script = both_tutorials.named("files-default-ray_programs")
    assert both_tutorials.needs(two, one)
    assert one.hooks["before_create"] == ("kueue-webhook-gate",)
    assert two.hooks["before_create"] == ("ray-2-turn", "kueue-webhook-gate")
    for job in (one, two):
        assert both_tutorials.needs(job, script)
        assert (job.replace_on_changes, job.delete_before_replace) == (("spec", "metadata"), True)
    volume = one.inputs["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["volumes"][0]
    assert volume["configMap"]["name"] == script.inputs["metadata"]["name"]
    assert script.inputs["immutable"] is True


def test_both_queues_live_in_one_cluster_without_sharing_a_name_or_a_flavor(both_tutorials) -> None:
    queues = both_tutorials.of_type("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue")
    flavors = [f["name"] for q in queues for f in q.inputs["spec"]["resourceGroups"][0]["flavors"]]
    assert len(queues) == 2
    assert sorted(flavors) == ["default-cpu", "dws", "on-demand", "vlp-24"]
    assert all("cohortName" not in queue.inputs["spec"] for queue in queues)


def test_a_private_endpoint_has_no_public_address_and_a_list_of_who_may_reach_it(recorded, tutorial) -> None:
    cluster = {"name": "tpu-cluster", "privateEndpoint": True}
    inputs = recorded(cluster=cluster).of_type(CLUSTER)[0].inputs
    assert inputs["privateClusterConfig"]["enablePrivateEndpoint"] is True
    assert inputs["masterAuthorizedNetworksConfig"] == {"cidrBlocks": []}
    public = tutorial.of_type(CLUSTER)[0].inputs
    assert public["privateClusterConfig"]["enablePrivateEndpoint"] is False
    assert "masterAuthorizedNetworksConfig" not in public
