"""What `make bump` writes, and that the pinned versions agree with the Go modules that the rehearsal builds."""

from __future__ import annotations

import pytest

from operations.bump import (
    CONTROLLERS,
    GATES,
    VERSIONS,
    BumpError,
    Controller,
    gates_in,
    parsed,
    required,
    with_gates,
    with_version,
)
from rehearsal.host.layout import CHECKOUT
from settings.catalogue import versions
from settings.catalogue.kueue_gates import FREE, GATES_OF, LOCKED

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller.name)
def test_the_rehearsal_builds_the_pinned_version(controller: Controller) -> None:
    go_mod = (CHECKOUT / controller.tools / "go.mod").read_text()
    assert required(go_mod, controller.module) == getattr(versions, controller.constant)


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller.name)
def test_one_line_of_the_versions_changes(controller: Controller) -> None:
    text = (CHECKOUT / VERSIONS).read_text()
    changed = with_version(text, controller, "9.8.7")
    lines = [new for old, new in zip(text.splitlines(), changed.splitlines(), strict=True) if old != new]
    assert lines == [f'{controller.constant} = "9.8.7"']


def test_versions_without_the_line_are_refused() -> None:
    with pytest.raises(BumpError, match="KUEUE_VERSION"):
        with_version("", CONTROLLERS[1], "1.2.3")


def test_the_gates_as_they_are_written_are_the_file_as_it_is() -> None:
    text = (CHECKOUT / GATES).read_text()
    namespace: dict[str, object] = {}
    exec(with_gates(text, "9.8.7", sorted(FREE), LOCKED), namespace)
    assert (namespace["FREE"], namespace["LOCKED"]) == (tuple(sorted(FREE)), LOCKED)
    assert namespace["GATES_OF"] == "9.8.7" != GATES_OF


SOURCE = """
const (
	One featuregate.Feature = "First"
	Two featuregate.Feature = "Second"
	Gone featuregate.Feature = "Third"
)
var defaultVersionedFeatureGates = map[featuregate.Feature]featuregate.VersionedSpecs{
	One: {
		{Version: version.MustParse("0.9"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("0.10"), Default: true, PreRelease: featuregate.GA, LockToDefault: true},
	},
	Two: {
		{Version: version.MustParse("0.9"), Default: true, PreRelease: featuregate.Beta},
	},
	Gone: {
		{Version: version.MustParse("0.9"), Default: false, PreRelease: featuregate.Deprecated, LockToDefault: true},
	},
}
"""


def test_the_last_entry_of_a_gate_counts() -> None:
    assert gates_in(SOURCE) == (["Second"], {"First": True, "Third": False})


def test_another_source_is_refused() -> None:
    with pytest.raises(BumpError, match="defaultVersionedFeatureGates"):
        gates_in("package features")


@pytest.mark.parametrize("argument", ["KUEUE", "KUEUE=", "KUEUE=v0.19.2", "KUEUE=latest", "HELM=1.2.3"])
def test_what_is_no_version_of_a_controller_is_refused(argument: str) -> None:
    with pytest.raises(BumpError, match="expected one of"):
        parsed([argument])
