"""The catalogue's rows and what is derived from them."""

from __future__ import annotations

import math

import pytest

from rehearsal.gcp.machines import TPUS, ZONES_OF, hosts
from settings.catalogue.accelerators import (
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
        (shape,) = param.values
        assert isinstance(shape, SliceShape)
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
    assert minimum_gke(MACHINE_TYPES["ct5lp-hightpu-4t"], "2x4") == "1.27.4-gke.900"
    assert minimum_gke(MACHINE_TYPES["ct6e-standard-4t"], "2x4") == "1.31.2-gke.1115000"
    assert minimum_gke(MACHINE_TYPES["tpu7x-standard-4t"], "2x2x2") == "1.34.0-gke.2201000"
    assert minimum_gke(MACHINE_TYPES["tpu7x-standard-4t"], "2x2x1") == "1.34.1-gke.1829001"


CATALOGUE = {
    "ct4p-hightpu-4t": (4, 240, 407, "tpu-v4-podslice", 2),
    "ct5lp-hightpu-1t": (1, 24, 48, "tpu-v5-lite-podslice", 1),
    "ct5lp-hightpu-4t": (4, 112, 192, "tpu-v5-lite-podslice", 1),
    "ct5lp-hightpu-8t": (8, 224, 384, "tpu-v5-lite-podslice", 1),
    "ct5p-hightpu-4t": (4, 208, 448, "tpu-v5p-slice", 2),
    "ct6e-standard-1t": (1, 44, 176, "tpu-v6e-slice", 1),
    "ct6e-standard-4t": (4, 180, 720, "tpu-v6e-slice", 1),
    "ct6e-standard-8t": (8, 360, 1440, "tpu-v6e-slice", 1),
    "tpu7x-standard-1t": (1, 56, 240, "tpu7x", 2),
    "tpu7x-standard-4t": (4, 224, 960, "tpu7x", 2),
}
"""Chips, vCPUs, GB, label and cores a chip, copied by hand from Google's lists."""


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_host_is_what_google_lists_it_as_and_the_rehearsals_is_the_same(name) -> None:
    row, played = MACHINE_TYPES[name], TPUS[name]
    assert (row.chips, row.vcpus, row.memory_gb, row.accelerator, row.cores_per_chip) == CATALOGUE[name]
    assert (played.chips, played.cpus, played.memory_gb, played.accelerator) == CATALOGUE[name][:4]


@pytest.mark.parametrize("name", MACHINE_TYPES)
def test_the_rehearsal_makes_every_shape_of_the_catalogue_and_only_those(name) -> None:
    """Two tables that do not know each other: each topology with its hosts, and with one side larger by one what both say."""
    row, played = MACHINE_TYPES[name], TPUS[name]
    for topology in row.topologies():
        assert hosts(played, topology) == SliceShape(row, topology).hosts
        sides = dimensions(topology)
        for n in range(len(sides)):
            other = "x".join(str(side + (k == n)) for k, side in enumerate(sides))
            assert (hosts(played, other) is not None) == (other in row.topologies())


@pytest.mark.parametrize("family", sorted(set(ZONES) - {"ct5l"}))
def test_the_rehearsal_has_machines_where_google_lists_them(family) -> None:
    assert set(ZONES[family]) == ZONES_OF[family]
