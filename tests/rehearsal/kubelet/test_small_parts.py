"""Probes' thresholds, logs, addresses, and the hosts file."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rehearsal.kubelet.api import logs
from rehearsal.kubelet.containers import etc_files, probes
from rehearsal.kubelet.containers.process import termination_message
from rehearsal.kubelet.network import namespace
from rehearsal.kubelet.network.pod_network import PodNetwork
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit
LINES = (
    b"2026-01-01T00:00:01.000000Z stdout F one\n"
    b"2026-01-01T00:00:02.000000Z stderr P tw\n"
    b"2026-01-01T00:00:02.000000Z stderr F o\n"
    b"2026-01-01T00:00:03.000000Z stdout F \n"
)


def test_thresholds_count_results_in_a_row() -> None:
    tally = probes.Tally(success_threshold=2, failure_threshold=3)
    assert [tally.take(r) for r in (True, True, True, False, False, True, False, False, False, False)] == [
        False, True, False, False, False, False, False, False, True, False,
    ]  # fmt: skip
    assert tally.result is False


def test_zero_is_a_setting_and_absence_is_not() -> None:
    assert probes.setting({"periodSeconds": 0}, "periodSeconds", 10) == 0
    assert probes.setting({}, "periodSeconds", 10) == 10


def test_ports_by_number_and_name() -> None:
    container = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}
    assert [probes.port_number(port, container) for port in (80, "81", "web")] == [80, 81, 8080]
    with pytest.raises(ValueError, match="no port named"):
        probes.port_number("none", container)


def read(tmp_path: Path, **wanted: object) -> bytes:
    (tmp_path / "0.log").write_bytes(LINES)
    wish = logs.wish({name: str(value) for name, value in wanted.items()}, 1_767_225_602.5)
    return b"".join(logs.stored(tmp_path / "0.log", wish, lambda: True, lambda: True))


def test_logs_as_they_were_written(tmp_path: Path) -> None:
    assert read(tmp_path) == b"one\ntwo\n\n"
    assert read(tmp_path, follow="true") == b"one\ntwo\n\n"


def test_parts_of_logs(tmp_path: Path) -> None:
    assert read(tmp_path, tailLines=0) == b""
    assert read(tmp_path, tailLines=1, timestamps="true") == b"2026-01-01T00:00:03.000000Z \n"
    assert read(tmp_path, limitBytes=5) == b"one\nt"
    assert read(tmp_path, sinceSeconds=1) == b"two\n\n"
    with pytest.raises(logs.LogError, match="tailLines"):
        read(tmp_path, tailLines="x")


def test_which_run_a_log_is_of(tmp_path: Path) -> None:
    folder = tmp_path / "ns_p_u" / "c"
    folder.mkdir(parents=True)
    (folder / "1.log").write_bytes(b"")
    assert logs.newest(folder, 2, previous=False).name == "1.log"
    with pytest.raises(logs.LogError, match="previous terminated container 'c' in pod 'p' not found"):
        logs.newest(folder, 1, previous=True)


def test_addresses_are_given_from_the_top_and_never_twice() -> None:
    assert namespace.free_address("10.64.1.0/24", []) == "10.64.1.254"
    assert namespace.free_address("10.64.1.0/24", ["10.64.1.254"]) == "10.64.1.253"
    assert namespace.free_address("10.64.1.0/30", []) == "10.64.1.2"
    with pytest.raises(namespace.PodNetworkError):
        namespace.free_address("10.64.1.0/30", ["10.64.1.2"])
    assert len(namespace.interface("some-uid")) <= 15


def test_hosts() -> None:
    pod = pods.pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a", "b"]}])
    text = etc_files.hosts(pod, "10.64.1.9")
    assert "10.64.1.9\tp\n" in text
    assert text.endswith("10.0.0.1\ta\tb\n")


def test_last_words(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(LINES)
    failed = {"exitCode": 1}
    assert termination_message(failed, tmp_path, 0, "File") == ""
    assert termination_message(failed, tmp_path, 0, "FallbackToLogsOnError") == "one\ntw\no\n"
    (tmp_path / "termination-log").write_text("bye")
    assert termination_message(failed, tmp_path, 0, "FallbackToLogsOnError") == "bye"


def test_an_address_is_not_given_twice(tmp_path: Path) -> None:
    """kwok gives the address of a pod that went to one of its own, so that the next real pod must not have it."""
    node = {"metadata": {"name": "n"}, "spec": {"podCIDR": "10.64.1.0/29"}}
    context: Any = SimpleNamespace(
        state=tmp_path, pods=tmp_path / "pods", addresses=threading.Lock(), pod_addresses=lambda: {"10.64.1.5"}
    )

    def address_of(uid: str) -> str:
        folder = context.pods / uid
        folder.mkdir(parents=True)
        pod = {"metadata": {"uid": uid}, "spec": {"nodeName": "n"}}
        return PodNetwork(context, folder, pod)._choose(node)

    assert address_of("first") == "10.64.1.6"
    shutil.rmtree(context.pods / "first")
    assert [address_of(uid) for uid in ("second", "third", "fourth")] == ["10.64.1.4", "10.64.1.3", "10.64.1.2"]
    assert address_of("all were given, this one is free again") == "10.64.1.6"
