"""What a container with chips is told of its slice. The values are those of the tests of GKE's own device plugin."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.kubelet.containers import tpu
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit


def asking(chips: int | str) -> dict[str, Any]:
    return pods.container(resources={"limits": {"google.com/tpu": chips}})


def node(accelerator: str, topology: str, chips: int, **more: str) -> dict[str, str]:
    labels = {"accelerator-count": str(chips), "tpu-accelerator": accelerator, "tpu-topology": topology}
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {f"cloud.google.com/gke-{name}": value for name, value in (labels | named).items()}


def test_a_v5e_host_is_told_all_that_gke_tells_it() -> None:
    assert tpu.of_slice(asking("4"), node("tpu-v5-lite-podslice", "2x4", 4)) == {
        "TPU_ACCELERATOR_TYPE": "v5litepod-8",
        "TPU_TOPOLOGY": "2x4",
        "TPU_TOPOLOGY_ALT": "false",
        "ALT": "false",
        "TPU_TOPOLOGY_WRAP": "false,false,false",
        "WRAP": "false,false,false",
        "HOST_BOUNDS": "1,2,1",
        "TPU_HOST_BOUNDS": "1,2,1",
        "CHIPS_PER_HOST_BOUNDS": "2,2,1",
        "TPU_CHIPS_PER_HOST_BOUNDS": "2,2,1",
        "TPU_SKIP_MDS_QUERY": "true",
        "TPU_RUNTIME_METRICS_PORTS": "8431,8432,8433,8434",
    }


@pytest.mark.parametrize(
    ("accelerator", "topology", "chips", "type_", "hosts", "wrap"),
    [
        ("tpu-v6e-slice", "4x4", 4, "v6e-16", "2,2,1", "false,false,false"),
        ("tpu-v6e-slice", "2x4", 8, "v6e-8", "1,1,1", "false,false,false"),
        ("tpu-v5-lite-podslice", "16x16", 4, "v5litepod-256", "8,8,1", "true,true,false"),
        ("tpu-v5p-slice", "2x4x4", 4, "v5p-64", "1,2,4", "false,false,false"),
        ("tpu7x", "2x2x2", 4, "tpu7x-16", "1,1,2", "false,false,false"),
        ("tpu7x", "12x24x24", 4, "tpu7x-13824", "6,12,24", "true,true,true"),
    ],
)
def test_of_every_shape(accelerator: str, topology: str, chips: int, type_: str, hosts: str, wrap: str) -> None:
    found = tpu.of_slice(asking(chips), node(accelerator, topology, chips))
    assert (found["TPU_TOPOLOGY"], found["TPU_ACCELERATOR_TYPE"]) == (topology, type_)
    assert (found["TPU_HOST_BOUNDS"], found["TPU_TOPOLOGY_WRAP"]) == (hosts, wrap)


def test_the_only_host_of_a_slice_is_its_first_and_of_several_the_plugin_knows_no_number() -> None:
    alone = tpu.of_slice(asking(4), node("tpu-v6e-slice", "2x2", 4))
    assert (alone["TPU_WORKER_ID"], alone["TPU_WORKER_HOSTNAMES"]) == ("0", "localhost")
    assert "TPU_WORKER_ID" not in tpu.of_slice(asking(4), node("tpu-v6e-slice", "4x4", 4))


def test_of_7x_a_host_may_have_several_containers_so_the_plugin_leaves_their_numbers_to_others() -> None:
    found = tpu.of_slice(asking(2), node("tpu7x", "2x2x1", 4))
    assert "TPU_WORKER_ID" not in found
    assert (found["TPU_HOST_BOUNDS"], found["TPU_CHIPS_PER_HOST_BOUNDS"]) == ("2,1,1", "1,2,1")
    assert found["TPU_RUNTIME_METRICS_PORTS"].split(",")[-1] == "8438"


def test_from_a_cube_on_links_may_fail_unless_the_node_says_no() -> None:
    cube, flat = node("tpu-v5p-slice", "4x4x4", 4), node("tpu-v5-lite-podslice", "16x16", 4)
    assert tpu.of_slice(asking(4), cube)["ENABLE_ICI_RESILIENCY"] == "true"
    refused = node("tpu-v5p-slice", "4x4x4", 4, tpu_ici_resiliency="False")
    assert tpu.of_slice(asking(4), refused)["ENABLE_ICI_RESILIENCY"] == "false"
    assert "ENABLE_ICI_RESILIENCY" not in tpu.of_slice(asking(4), flat)


def test_who_has_no_chips_is_told_nothing_of_slices() -> None:
    v6e = node("tpu-v6e-slice", "4x4", 4)
    assert tpu.of_slice(pods.container(), v6e) == {}
    assert all(tpu.of_slice(asking(4), {k: v for k, v in v6e.items() if k != missing}) == {} for missing in v6e)
