"""Names that Google shortens, and GKE's version numbers."""

from __future__ import annotations

import pytest

from settings.catalogue import gke_version
from settings.schema.field_types import is_zone, region_of, seconds, shortened

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("version", "floor", "enough"),
    [
        ("1.34", "1.34.0-gke.2201000", True),
        ("1.33", "1.34.0-gke.2201000", False),
        ("1.34.0-gke.2200999", "1.34.0-gke.2201000", False),
        ("1.34.0-gke.2201000", "1.34.0-gke.2201000", True),
        ("1.34.1", "1.34.0-gke.2201000", True),
        ("1.9", "1.27.4-gke.900", False),
    ],
)
def test_versions_compare_as_numbers(version, floor, enough) -> None:
    assert gke_version.at_least(version, floor) is enough


@pytest.mark.parametrize("text", ["", "latest", "1", "1.34.x", "v1.34"])
def test_what_is_not_a_version(text) -> None:
    assert gke_version.parse(text) is None


def test_a_name_that_fits_is_left_alone_and_long_names_stay_different() -> None:
    assert shortened("short-nodes", 30) == "short-nodes"
    long, other = shortened("a" * 40 + "-nodes", 30), shortened("a" * 41 + "-nodes", 30)
    assert len(long) <= 30
    assert long != other


def test_places_and_times() -> None:
    assert region_of("us-west4-a") == region_of("us-west4") == "us-west4"
    assert is_zone("us-west4-a")
    assert not is_zone("us-west4")
    assert [seconds(text) for text in ("90s", "15m", "2h")] == [90, 900, 7200]
