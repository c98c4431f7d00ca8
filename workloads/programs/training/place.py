"""What a pod is told about itself and its job, by variables that the manifest sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .failure import ENVIRONMENT, Failure

COUNTS = ("NUM_SLICES", "HOSTS_PER_SLICE", "CHIPS_PER_HOST")


@dataclass(frozen=True)
class Place:
    """Slices, hosts of a slice and chips of a host are counts; `coordinator` is host:port of process 0, empty for one process."""

    slices: int
    hosts: int
    chips: int
    slice_index: int
    host_index: int
    coordinator: str

    @property
    def processes(self) -> int:
        return self.slices * self.hosts

    @property
    def process(self) -> int:
        return self.slice_index * self.hosts + self.host_index

    @property
    def devices(self) -> int:
        return self.processes * self.chips


def place_from(environment: Mapping[str, str]) -> Place | None:
    """The place that the variables describe; None if there are none of them: one process with the devices it has.

    Raises Failure if some are missing, are not numbers, or contradict each other.
    """
    coordinator = environment.get("COORDINATOR_ADDRESS", "")
    if not coordinator and not any(name in environment for name in COUNTS):
        return None
    slices, hosts, chips = (_number(environment, name, 1) for name in COUNTS)
    if not coordinator and slices * hosts > 1:
        raise Failure(
            ENVIRONMENT, f"COORDINATOR_ADDRESS is not set, and {slices} x {hosts} processes have to meet somewhere"
        )
    if coordinator and not _is_address(coordinator):
        raise Failure(ENVIRONMENT, f"COORDINATOR_ADDRESS is {coordinator!r}, not host:port")
    return Place(
        slices=slices,
        hosts=hosts,
        chips=chips,
        slice_index=_index(environment, "SLICE_INDEX", slices),
        host_index=_index(environment, "HOST_INDEX", hosts),
        coordinator=coordinator,
    )


def wanted_platform(environment: Mapping[str, str]) -> str | None:
    """The first platform of JAX_PLATFORMS: those after it are not what the job was given chips for."""
    return environment.get("JAX_PLATFORMS", "").split(",")[0] or None


def _index(environment: Mapping[str, str], name: str, count: int) -> int:
    if count == 1 and name not in environment:
        return 0
    index = _number(environment, name, 0)
    if index >= count:
        raise Failure(ENVIRONMENT, f"{name} is {index}, but there are {count}: 0 to {count - 1}")
    return index


def _number(environment: Mapping[str, str], name: str, least: int) -> int:
    text = environment.get(name)
    if text is None:
        raise Failure(ENVIRONMENT, f"{name} is not set")
    if not text.isdecimal() or int(text) < least:
        raise Failure(ENVIRONMENT, f"{name} is {text!r}, not a whole number from {least}")
    return int(text)


def _is_address(text: str) -> bool:
    host, separator, port = text.rpartition(":")
    return bool(host and separator and port.isdecimal() and 0 < int(port) < 65536)
