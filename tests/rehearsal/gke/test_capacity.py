"""The table of what Google has: what it may say, and who holds what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rehearsal.gcp import capacity
from rehearsal.gcp.capacity import FreeChips
from rehearsal.gcp.core import CloudState, ServerSettings, Store
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler import pool_store
from rehearsal.gke.autoscaler.scale_up import Growth
from tests.rehearsal.gke.builders import ZONE, cpu_pool, pool, queued_pool

pytestmark = pytest.mark.unit

ROW = {"zone": ZONE, "family": "v6e", "kind": "on-demand", "chips": 16}
FLEX = {"zone": ZONE, "family": "v6e", "kind": "flex-start", "chips": 16, "wait_s": 30}


@pytest.fixture
def world(tmp_path: Path) -> CloudState:
    made = CloudState(Store(tmp_path), ServerSettings(time_scale=0.01))
    capacity.set_table(made, {"chips": [ROW, FLEX]})
    return made


def stored(world: CloudState, made: dict[str, Any]) -> dict[str, Any]:
    world.store.put("pools", made["_name"], made)
    return made


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ([], "JSON object"), ({"chip": []}, "JSON object"), ({"chips": {}}, "list of rows"),
        ({"chips": [{**ROW, "zone": "x"}]}, "no such zone"),
        ({"chips": [{**ROW, "family": "v9"}]}, "family is one of"), ({"chips": [{**ROW, "kind": "free"}]}, "kind is one of"),
        ({"chips": [{**ROW, "chips": -1}]}, "whole number"), ({"chips": [{**ROW, "chips": "16"}]}, "whole number"),
        ({"chips": [{**ROW, "wait_s": 1}]}, "flex-start only"), ({"chips": [ROW, ROW]}, "two rows"),
        ({"chips": [{**ROW, "more": 1}]}, "a row has"),
        ({"times": {"idle": 1}}, "numbers of seconds"), ({"times": {"idle_s": "1"}}, "numbers of seconds"),
    ],
)  # fmt: skip
def test_what_a_table_may_not_say(table: Any, says: str) -> None:
    assert says in capacity.wrong(table)


def test_what_it_may() -> None:
    assert capacity.wrong({"chips": [ROW, FLEX], "times": {"idle_s": 0}}) == ""
    assert capacity.wrong({}) == ""


def test_zero_is_a_number_of_chips(world: CloudState) -> None:
    capacity.set_table(world, {"chips": [{**ROW, "chips": 0}]})
    assert capacity.room(world, pool("a"), ZONE) == FreeChips(0, 0.0)


def test_rows_apply_by_zone_family_and_kind(world: CloudState) -> None:
    assert capacity.room(world, pool("a"), ZONE) == FreeChips(16, 0.0)
    assert capacity.room(world, queued_pool(), ZONE) == FreeChips(16, 30.0)
    assert capacity.room(world, pool("a", config={"spot": True}), ZONE) == FreeChips(None, 0.0)
    assert capacity.room(world, pool("a", "ct5lp-hightpu-4t"), ZONE) == FreeChips(None, 0.0)
    assert capacity.room(world, cpu_pool(), ZONE) == FreeChips(None, 0.0)


def test_flex_start_without_a_row_waits_as_long_as_it_usually_does(world: CloudState) -> None:
    capacity.set_table(world, {"times": {"queue_s": 200}})
    assert capacity.room(world, queued_pool(), ZONE) == FreeChips(None, 2.0)


def test_two_pools_that_are_made_at_once_do_not_share_chips(world: CloudState) -> None:
    first, second = (stored(world, pool(name, _size=4, status="PROVISIONING", autoscaling={})) for name in ("a", "b"))
    assert capacity.claim(world, first, 4)
    assert capacity.claim(world, first, 4), "a server that was killed claims again"
    assert not capacity.claim(world, second, 4)
    world.store.delete("pools", first["_name"])
    assert capacity.claim(world, second, 4)


def test_a_growth_takes_chips_and_a_shrink_gives_them_back(world: CloudState) -> None:
    first, second = stored(world, pool("a")), stored(world, pool("b"))
    assert pool_store.grow(world, Growth(first, ZONE, 4))
    assert not pool_store.grow(world, Growth(second, ZONE, 4))
    here = world.store.get("pools", first["_name"]) or {}
    assert pool_store.take(world, first["_name"], {(m.zone, m.n) for m in pool_nodes.of(here)})
    assert pool_store.grow(world, Growth(second, ZONE, 4))


def test_nothing_grows_while_a_user_changes_the_pool_or_beyond_its_limit(world: CloudState) -> None:
    busy = stored(world, pool("a", status="RECONCILING"))
    assert not pool_store.grow(world, Growth(busy, ZONE, 4))
    assert pool_store.take(world, busy["_name"], set()) is None
    full = stored(world, pool_nodes.grown(pool("b"), ZONE, 4, Member(0, ZONE)))
    assert not pool_store.grow(world, Growth(full, ZONE, 4))


@pytest.mark.parametrize(
    ("config", "run_s", "lasts"),
    [
        ({}, None, None),
        ({"flexStart": True}, None, 6048.0),
        ({"maxRunDuration": "3600s"}, None, 36.0),
        ({"flexStart": True}, 600.0, 6.0),
    ],
)
def test_how_long_a_node_may_stay(
    world: CloudState, config: dict[str, Any], run_s: float | None, lasts: float | None
) -> None:
    made = stored(world, pool("a", config=config))
    assert pool_store.grow(world, Growth(made, ZONE, 4), run_s=run_s)
    (member, *_) = pool_nodes.of(world.store.get("pools", made["_name"]) or {})
    stays = None if member.ends_at is None else member.ends_at - member.ready_at
    assert stays == (lasts if lasts is None else pytest.approx(lasts))
