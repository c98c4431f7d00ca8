"""The list of feature gates against the pinned Kueue itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from components.manifests.helm_values import WITHOUT_PODS_READY
from operations.bump import gates_in
from settings.catalogue.kueue_gates import ALL_OF_A_KIND, FREE, GATES_OF, LOCKED
from settings.catalogue.versions import KUEUE_VERSION
from settings.schema.stack import ELASTIC_JOBS

pytestmark = pytest.mark.unit

_CACHE = os.environ.get("GOMODCACHE", os.path.join(os.environ.get("GOPATH", str(Path.home() / "go")), "pkg/mod"))
SOURCE = Path(_CACHE) / f"sigs.k8s.io/kueue@v{KUEUE_VERSION}/pkg/features/kube_features.go"


def test_the_list_is_that_of_the_pinned_version() -> None:
    assert GATES_OF == KUEUE_VERSION


def test_each_gate_is_listed_once_and_ours_can_be_switched() -> None:
    assert len({*FREE, *LOCKED, *ALL_OF_A_KIND}) == len(FREE) + len(LOCKED) + len(ALL_OF_A_KIND)
    assert {ELASTIC_JOBS, WITHOUT_PODS_READY} <= set(FREE)


@pytest.mark.skipif(not SOURCE.exists(), reason="Kueue's module is not in Go's cache")
def test_the_list_is_what_kueues_source_says() -> None:
    free, locked = gates_in(SOURCE.read_text())
    assert locked == LOCKED
    assert set(free) == set(FREE)
