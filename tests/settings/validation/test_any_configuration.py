"""Whatever stands in a stack file, there is a plan or a list of faults, and never anything else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from settings.load import plan_from
from settings.plan.plan import Plan
from settings.schema.stack import Settings
from settings.validation.messages import keys_of
from settings.validation.problem import ConfigurationError
from tests.support.platforms import AUTOPILOT, BOTH, TUTORIAL, as_config
from tests.support.problems import NOWHERE

pytestmark = pytest.mark.unit

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
WHOLE: dict[str, Any] = {
    **BOTH,
    "project": "some-project",
    "network": {"nodesCidr": "10.128.0.0/16", "podsCidr": "10.64.0.0/16"},
    "labels": {"team": "a"},
    "kueue": {
        "featureGates": {"ElasticJobsViaWorkloadSlices": True},
        "podsReady": {"timeout": "30m"},
        "fairSharing": False,
    },
    "priorities": [{"name": "low", "value": 100}, {"name": "high", "value": 1000, "pods": True}],
    "queues": [
        {
            **BOTH["queues"][0],
            "cohort": "teams",
            "limits": {"vlp-24": {"borrow": 8, "lend": 0}},
            "preemption": {
                "withinClusterQueue": "LowerPriority",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
            },
        },
        BOTH["queues"][1],
    ],
    "teams": [
        {"name": "team-a", "members": {"users": ["a@b.c"]}, "flavors": {"vlp-24": {"chips": 8, "borrow": 8}}},
        {
            "name": "team-b",
            "namespace": "b",
            "flavors": {"vlp-24": {"chips": 8, "lend": 0}},
            "weight": 2,
            "cpu": {"cpu": 3, "memory": "6Gi"},
        },
    ],
    "workloads": [
        {"name": "multislice-3slice", "slices": 2, "flavor": "vlp-24", "priority": "low"},
        {"name": "of-a-team", "slices": 1, "flavor": "vlp-24", "team": "team-a", "priority": "high"},
    ],
    "charts": {"kueue": "oci://some/chart"},
    "timeouts": {"pool": "60m"},
    "tpuZones": {"ct5lp": ["us-central1-a"]},
    "tpuCapacity": {"v5p": ["flex-start"]},
    "ray": {
        "operator": "helm",
        "jobs": [
            {
                "name": "ray-1",
                "flavors": ["on-demand", "dws"],
                "elastic": True,
                "head": {"cpu": 2, "memory": "4Gi"},
                "requirements": ["jax==0.10.2"],
            },
            {
                "name": "ray-2",
                "after": ["ray-1"],
                "queue": "user-queue",
                "priority": "low",
                "worker": {"cpu": 8, "memory": "16Gi"},
            },
            {"name": "ray-3", "team": "team-b", "flavor": "vlp-24"},
        ],
    },
}
"""Both tutorials, with something in every section."""

LIKELY = [
    *(None, True, False, 0, -1, 1, 3, 4, 8, 10**30, 0.5, 1e300, "", " ", "null", "0", "-1", [], {}, [None], {"": None}),
    *(
        "us-west4",
        "us-west4-a",
        "us-central1-a",
        "queued",
        "spot",
        "reservation",
        "flex-start",
        "4x4",
        "2x2x2",
        "16x16",
    ),
    *("ct5lp-hightpu-4t", "ct4p-hightpu-4t", "ct3-hightpu-4t", "tpu7x-standard-4t", "e2-standard-2", "x9-standard-8"),
    *("10.0.0.0/8", "0.0.0.0/0", "10.0.0.0/32", "255.255.255.255/32", "1.33", "1." + "9" * 5000, "9" * 5000, "a" * 70),
    *(
        "vlp-24",
        "dws",
        "on-demand",
        "user-queue",
        "multislice-3slice",
        "ray-1",
        "90m",
        "99999999h",
        "512Mi",
        "\ud800",
        "\0",
    ),
]
"""Values that mean something somewhere, and the edges of types."""
json_values = st.recursive(
    st.sampled_from(LIKELY) | st.integers() | st.floats() | st.booleans() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something can be changed."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, child in children for place in ((*at, key), *places(child, (*at, key)))]


def found(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


@st.composite
def changed_configurations(draw: st.DrawFn, original: dict[str, Any]) -> dict[str, Any]:
    """A valid configuration after one to four changes."""
    values = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 4))):
        here = places(values)
        if here:
            change(draw, values, draw(st.sampled_from(here)), here)
    return values


def change(draw: st.DrawFn, values: Any, place: tuple[Any, ...], others: list[tuple[Any, ...]]) -> None:
    around, key = found(values, place[:-1]), place[-1]
    kind = draw(st.sampled_from(["delete", "replace", "replace", "swap", "duplicate", "rename"]))
    if kind == "delete":
        del around[key]
    elif kind == "replace":
        around[key] = copy.deepcopy(draw(json_values))
    elif kind == "swap":
        around[key] = copy.deepcopy(found(values, draw(st.sampled_from(others))))
    elif isinstance(around, list):
        around.insert(draw(st.integers(0, len(around))), copy.deepcopy(around[key]))
    elif kind == "duplicate":
        around[f"{key}2"] = copy.deepcopy(around[key])
    else:
        known = st.sampled_from([*keys_of(Settings), "flavor", "spot", "capacity", "cpu", "name", "chips", "borrow"])
        around[draw(known | st.text(max_size=8))] = around.pop(key)


def holds(config: dict[str, str]) -> None:
    """The property. A report can be printed on any terminal."""
    try:
        plan = plan_from(config, NOWHERE)
    except ConfigurationError as error:
        assert error.problems
        assert all(problem.expected and problem.fix for problem in error.problems)
        assert str(error).encode()
    else:
        assert isinstance(plan, Plan)


@settings(quick, max_examples=400)
@given(
    changed_configurations(TUTORIAL)
    | changed_configurations(BOTH)
    | changed_configurations(WHOLE)
    | changed_configurations({**TUTORIAL, **AUTOPILOT})
)
def test_a_changed_configuration_has_a_plan_or_faults(values: dict[str, Any]) -> None:
    holds(as_config({**({} if "project" in values else {"project": "some-project"}), **values}))


@quick
@given(st.sampled_from(keys_of(Settings)), json_values)
@example("cluster", {"name": "a", "version": "1." + "9" * 5000})
@example("cluster", {"name": "a", "defaultPool": {"machineType": "e2-standard-" + "9" * 5000}})
def test_any_value_of_any_key_gives_a_plan_or_faults(key: str, value: Any) -> None:
    holds(as_config({**TUTORIAL, key: value}))


@quick
@given(st.dictionaries(st.text(max_size=12) | st.sampled_from(keys_of(Settings)), json_values, max_size=6))
def test_any_keys_give_a_plan_or_faults(values: dict[str, Any]) -> None:
    holds(as_config(values))


@quick
@given(
    st.dictionaries(
        st.text(max_size=12) | st.sampled_from([f"tpu-platform:{key}" for key in keys_of(Settings)]), st.text()
    )
)
@example({"tpu-platform:slices": "[" * 100_000})
@example({"tpu-platform:labels": json.dumps({"a": "x"})[:-1]})
@example({"": "", ":": ":"})
def test_any_text_that_the_engine_may_hand_over_gives_a_plan_or_faults(config: dict[str, str]) -> None:
    holds(config)
