"""A stack that an older version of the program made is taken over by this one, and nothing of it is made anew.

The engine knows a resource by its URN: its type, its parents' types and its name. `urns.json` has those of stacks in the
field. A resource that gets another name or parent needs an alias to its old URN; its entry stays.
"""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.support.recording import Recording, record
from tests.support.upgrades import FORCED, KNOWN, Fixed, fixed_of, known, lost, real, replaced, with_new

pytestmark = pytest.mark.unit


def test_every_resource_of_older_stacks_is_taken_over(both_tutorials: Recording) -> None:
    assert lost(known(), both_tutorials) == set(), "they would be deleted: give what is called otherwise now an alias"


def test_no_cluster_pool_or_queue_of_older_stacks_is_replaced(both_tutorials: Recording) -> None:
    assert replaced(known(), both_tutorials) == {}


def test_new_resources_are_on_the_list_from_now_on(both_tutorials: Recording) -> None:
    assert KNOWN.read_text() == with_new(both_tutorials), "run `make docs`"


def test_the_list_has_clusters_pools_and_queues(both_tutorials: Recording) -> None:
    for kind in FORCED:
        assert [urn for urn in known() if urn.split("::")[2].endswith(kind)], kind


# -- the check itself -------------------------------------------------------------------------------------------------


class Part(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:test:Part", name, None, opts)
        Leaf(f"{name}-leaf", pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


class Leaf(pulumi.CustomResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__("gcp:container/nodePool:NodePool", name, {"name": name, "location": "here"}, opts)


class Renamed(pulumi.ComponentResource):
    """`Part` of a later version."""

    def __init__(self, name: str, aliases: list[Any]) -> None:
        super().__init__("tpu-platform:test:Renamed", name, None, pulumi.ResourceOptions(aliases=aliases))
        Leaf(f"{name}-leaf", pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


@pytest.fixture(scope="module")
def older() -> dict[str, Fixed]:
    return {real(resource.urn): fixed_of(resource) for resource in record(lambda: Part("part")).resources}


def test_another_type_of_a_component_loses_it_and_what_is_in_it(older: dict[str, Fixed]) -> None:
    assert lost(older, record(lambda: Renamed("part", []))) == set(older)


def test_an_alias_of_a_component_finds_it_and_what_is_in_it(older: dict[str, Fixed]) -> None:
    aliases = [pulumi.Alias(type_="tpu-platform:test:Part")]
    assert lost(older, record(lambda: Renamed("part", aliases))) == set()


def test_another_name_of_a_component_is_another_name_of_what_is_called_after_it(older: dict[str, Fixed]) -> None:
    aliases = [pulumi.Alias(type_="tpu-platform:test:Part", name="part")]
    assert lost(older, record(lambda: Renamed("piece", aliases))) == set()
    assert lost(older, record(lambda: Renamed("piece", aliases[:0]))) == set(older)


def test_an_input_that_replaces_is_named(older: dict[str, Fixed]) -> None:
    moved = {urn: {**fixed, "location": "there"} if fixed else fixed for urn, fixed in older.items()}
    assert list(replaced(moved, record(lambda: Part("part"))).values()) == [["location"]]
