"""The training program's pure parts: flags, variables, data, what is needed, fingerprints."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import NoReturn

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settings.catalogue.versions import TRAINING_CONFIGS, TRAINING_REQUIREMENTS
from workloads.programs.training import needs, stored
from workloads.programs.training.data import NOISE_ONE_IN, STRIDES, examples
from workloads.programs.training.failure import CHIPS, DEVICES, ENVIRONMENT, FOR_GOOD, Failure
from workloads.programs.training.join import check_devices
from workloads.programs.training.loop import Training
from workloads.programs.training.mesh import mesh_of
from workloads.programs.training.options import CONFIGS, options_from
from workloads.programs.training.place import place_from, wanted_platform
from workloads.programs.training.progress import Record

pytestmark = pytest.mark.unit

FOLDER = Path(needs.__file__).parent
POD = {
    "COORDINATOR_ADDRESS": "job-slice-0-0.job:8476",
    "NUM_SLICES": "3",
    "HOSTS_PER_SLICE": "2",
    "CHIPS_PER_HOST": "4",
    "SLICE_INDEX": "2",
    "HOST_INDEX": "1",
    "JAX_PLATFORMS": "tpu,cpu",
}


def test_a_pod_knows_its_place() -> None:
    place = place_from(POD)
    assert place is not None
    assert (place.processes, place.process, place.devices) == (6, 5, 24)
    assert wanted_platform(POD) == "tpu"


def test_a_laptop_has_no_place_and_wants_no_platform() -> None:
    assert place_from({"SLICE_INDEX": "0", "HOME": "/root"}) is None
    assert wanted_platform({"JAX_PLATFORMS": ""}) is None


def test_one_host_needs_neither_coordinator_nor_numbers() -> None:
    place = place_from({"NUM_SLICES": "1", "HOSTS_PER_SLICE": "1", "CHIPS_PER_HOST": "4"})
    assert place is not None
    assert (place.process, place.devices, place.coordinator) == (0, 4, "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"NUM_SLICES": None}, "NUM_SLICES is not set"),
        ({"CHIPS_PER_HOST": "0"}, "CHIPS_PER_HOST is '0', not a whole number from 1"),
        ({"HOST_INDEX": "-1"}, "HOST_INDEX is '-1', not a whole number from 0"),
        ({"SLICE_INDEX": "3"}, "SLICE_INDEX is 3, but there are 3: 0 to 2"),
        ({"SLICE_INDEX": None}, "SLICE_INDEX is not set"),
        ({"COORDINATOR_ADDRESS": "job"}, "COORDINATOR_ADDRESS is 'job', not host:port"),
        ({"COORDINATOR_ADDRESS": "job:0"}, "COORDINATOR_ADDRESS is 'job:0', not host:port"),
        ({"COORDINATOR_ADDRESS": None}, "COORDINATOR_ADDRESS is not set, and 3 x 2 processes have to meet somewhere"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(change, words) -> None:
    variables = {name: value for name, value in (POD | change).items() if value is not None}
    with pytest.raises(Failure) as raised:
        place_from(variables)
    assert (raised.value.code, str(raised.value)) == (ENVIRONMENT, words)


def test_flags_win_over_the_named_configuration() -> None:
    options = options_from(["--config", "small", "--steps", "7"])
    assert options.config == dataclasses.replace(CONFIGS["small"], steps=7)
    assert options.folder is None


@pytest.mark.parametrize(
    "words",
    [
        ["--steps", "0"],
        ["--checkpoint-every", "0"],
        ["--seed", "-1"],
        ["--seed", str(2**31)],
        ["--seed", "9" * 20],
        ["--checkpoint-dir", ""],
        ["--config", "huge"],
    ],
)
def test_wrong_flags_end_with_two(words, capsys) -> None:
    with pytest.raises(SystemExit) as raised:
        options_from(words)
    assert raised.value.code == 2
    assert words[0] in capsys.readouterr().err


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**63), st.integers(0, 2**40), st.integers(1, 40), st.integers(1, 8))
def test_an_example_depends_on_its_number_and_not_on_who_makes_it(seed, step, rows, processes) -> None:
    together = examples(seed, step, np.arange(rows), 16, 64)
    apart = [examples(seed, step, part, 16, 64) for part in np.array_split(np.arange(rows), processes)]
    assert np.array_equal(together, np.concatenate(apart))
    assert together.shape == (rows, 17)
    assert together.min() >= 0
    assert together.max() < 64


def test_seed_step_and_number_each_make_another_example() -> None:
    batches = [examples(seed, step, np.arange(20), 32, 128) for seed in range(3) for step in range(3)]
    rows = np.concatenate(batches)
    # One in eight is without noise, and of those there are 128 starts x 4 strides: now and then two are the same.
    assert len(np.unique(rows, axis=0)) > 0.97 * len(rows)


def test_there_is_something_to_learn_and_some_noise() -> None:
    made = examples(0, 0, np.arange(500), 32, 128)
    strides = np.diff(made, axis=1) % 128
    usual = np.array([np.bincount(row).argmax() for row in strides])
    assert set(usual) == set(range(1, STRIDES + 1))
    regular = np.mean(strides == usual[:, None])
    # A stride is as it should be if neither of its two tokens is noise.
    assert regular == pytest.approx((1 - 1 / NOISE_ONE_IN) ** 2, abs=0.02)


def test_versions_are_those_of_the_stack() -> None:
    stack = {
        name: pin for name, _, pin in (line.replace("[tpu]", "").partition("==") for line in TRAINING_REQUIREMENTS)
    }
    assert stack | {"jaxlib": stack["jax"]} == needs.PACKAGES
    assert needs.unmet() == ""


def test_configurations_are_those_that_a_stack_file_may_name() -> None:
    assert set(TRAINING_CONFIGS) == set(CONFIGS)


def test_a_wrong_interpreter_or_package_is_named_on_one_line() -> None:
    assert needs.unmet((3, 8)) == "Python 3.11 or later is needed, this is 3.8"
    assert needs.unmet(packages={"jax": "0.4.1"}) == f"jax 0.4.1 is needed, here it is {jax.__version__}"
    assert needs.unmet(packages={"no-such-package": "1"}) == "no-such-package 1 is needed, here it is missing"


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py", "needs.py", "failure.py"])
def test_what_runs_before_the_check_of_python_can_be_read_by_an_old_one(name) -> None:
    ast.parse((FOLDER / name).read_text(), feature_version=(3, 7))


def test_the_check_comes_before_the_first_import_that_could_fail() -> None:
    assert imported("__main__.py") == {"os", "signal", "sys", "failure", "needs"}
    assert imported("needs.py") == imported("failure.py") | {"sys"} == {"__future__", "sys"}


def imported(name: str) -> set[str]:
    """The modules that a file of the program imports at its top."""
    body = ast.parse((FOLDER / name).read_text()).body
    plain = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    return plain | {str(node.module) for node in body if isinstance(node, ast.ImportFrom)}


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 59), st.integers(0, 31))
def test_one_changed_bit_changes_the_fingerprint(place, bit) -> None:
    values = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)
    harmed = values.copy()
    harmed.reshape(-1).view(np.uint32)[place] ^= np.uint32(1 << bit)
    before, after = (stored.fingerprints({"a": jnp.asarray(array)}) for array in (values, harmed))
    assert before != after


def test_what_is_free_to_change_does_not_make_another_run() -> None:
    tiny = CONFIGS["tiny"]
    longer = dataclasses.replace(tiny, steps=10_000, checkpoint_every=1, learning_rate=1.0)
    assert stored.identity(tiny, 0) == stored.identity(longer, 0)
    assert stored.identity(tiny, 0) != stored.identity(tiny, 1)
    assert stored.identity(tiny, 0) != stored.identity(dataclasses.replace(tiny, heads=4), 0)


def test_every_harmless_name_is_a_field() -> None:
    assert set(stored.FREE_TO_CHANGE) <= {field.name for field in dataclasses.fields(CONFIGS["tiny"])}


@pytest.mark.parametrize(
    ("expected", "platform"), [(1000, "cpu"), (None, "tpu")], ids=["their number", "their platform"]
)
def test_devices_other_than_the_slices_are_an_end_for_good(expected: int | None, platform: str) -> None:
    with pytest.raises(Failure) as raised:
        check_devices(expected, platform)
    assert raised.value.code == DEVICES
    assert DEVICES in FOR_GOOD


def test_chips_that_do_not_start_may_start_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX raises for a platform that is named and cannot be had, also when another process holds its chips."""

    def held() -> int:
        raise RuntimeError("Unable to initialize backend 'tpu': ABORTED: the TPU is in use")

    monkeypatch.setattr(jax, "device_count", held)
    with pytest.raises(Failure, match="the TPU is in use") as raised:
        check_devices(4, "tpu")
    assert raised.value.code == CHIPS
    assert CHIPS not in FOR_GOOD


@pytest.mark.parametrize("done", [40, 88])
def test_a_job_whose_checkpoint_has_all_its_steps_or_more_is_done(done: int) -> None:
    """More, where `steps` was lowered after it was saved."""
    tiny = CONFIGS["tiny"]
    training = Training(tiny, mesh_of(jax.devices()[:1], 1, 1), 0, {}, done, Record(0.0, 0.0))

    def nothing(*_: object) -> NoReturn:
        raise AssertionError("there is nothing left to do")

    assert training.run(nothing, nothing, None, None)
