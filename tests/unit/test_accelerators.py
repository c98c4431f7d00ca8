"""The catalogue's rows and what is derived from them."""

from __future__ import annotations

import math

import pytest

from settings.accelerators import (
    MACHINE_TYPES,
    ZONES,
    Placement,
    SliceShape,
    cubes,
    dimensions,
    minimum_gke,
    nearest_topology,
    offered_in,
)

pytestmark = pytest.mark.unit

EVERY_SHAPE = [
    pytest.param(SliceShape(machine, topology), id=f"{machine.name}-{topology}")
    for machine in MACHINE_TYPES.values()
    for topology in machine.topologies()
]


def test_the_catalogue_has_all_fifteen_machine_types() -> None:
    assert len(MACHINE_TYPES) == 15


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=lambda machine: machine.name)
def test_chips_per_host_is_the_digit_before_the_t(machine) -> None:
    assert machine.name.endswith(f"-{machine.chips}t")


def test_every_shape_has_whole_hosts_and_single_hosts_have_no_placement() -> None:
    for param in EVERY_SHAPE:
        shape = param.values[0]
        assert shape.chips == math.prod(dimensions(shape.topology))
        assert shape.hosts * shape.machine.chips == shape.chips
        assert (shape.hosts == 1) == (shape.topology in shape.machine.single_host)
        assert (shape.placement is Placement.NONE) == (shape.hosts == 1)


@pytest.mark.parametrize(
    ("machine", "topology", "hosts", "chips", "placement"),
    [
        ("ct5lp-hightpu-4t", "2x4", 2, 8, Placement.COMPACT),
        ("ct5lp-hightpu-8t", "2x4", 1, 8, Placement.NONE),
        ("ct5lp-hightpu-4t", "16x16", 64, 256, Placement.COMPACT),
        ("ct6e-standard-4t", "4x4", 4, 16, Placement.COMPACT),
        ("ct4p-hightpu-4t", "2x2x1", 1, 4, Placement.NONE),
        ("ct5p-hightpu-4t", "4x4x8", 32, 128, Placement.COMPACT),
        ("tpu7x-standard-4t", "2x2x2", 2, 8, Placement.WORKLOAD_POLICY),
    ],
)
def test_shapes_by_hand(machine, topology, hosts, chips, placement) -> None:
    shape = SliceShape(MACHINE_TYPES[machine], topology)
    assert (shape.hosts, shape.chips, shape.placement) == (hosts, chips, placement)


@pytest.mark.parametrize("machine", ["ct4p-hightpu-4t", "ct5p-hightpu-4t", "tpu7x-standard-4t"])
def test_large_topologies_are_ordered_multiples_of_four_within_the_limit(machine) -> None:
    row = MACHINE_TYPES[machine]
    for topology in cubes(row.max_cubes):
        sides = dimensions(topology)
        assert all(side % 4 == 0 for side in sides)
        assert list(sides) == sorted(sides)
        assert math.prod(sides) // 64 <= row.max_cubes


def test_the_largest_v4_cube_is_there_and_a_larger_one_is_not() -> None:
    topologies = MACHINE_TYPES["ct4p-hightpu-4t"].topologies()
    assert "16x16x16" in topologies
    assert "16x16x20" not in topologies


def test_zones_can_be_given_as_regions() -> None:
    assert offered_in("ct5l", "us-central1-a", ZONES)
    assert not offered_in("ct5l", "us-central2-b", ZONES)
    assert offered_in("ct5lp", "us-west4-a", ZONES)
    assert not offered_in("ct5lp", "us-west4-b", ZONES)


def test_an_unknown_topology_gets_the_nearest_by_chips() -> None:
    machine = MACHINE_TYPES["ct5lp-hightpu-4t"]
    assert nearest_topology(machine, "3x4") == "2x4"
    assert nearest_topology(machine, "20x20") == "16x16"
    assert nearest_topology(machine, "nonsense") == "2x2"


def test_newer_generations_need_newer_clusters() -> None:
    assert minimum_gke(MACHINE_TYPES["ct5lp-hightpu-4t"]) == "1.27.4-gke.900"
    assert minimum_gke(MACHINE_TYPES["ct6e-standard-4t"]).startswith("1.31.2")
    assert minimum_gke(MACHINE_TYPES["tpu7x-standard-4t"]).startswith("1.34.0")
