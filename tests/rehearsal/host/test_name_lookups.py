"""Name look-ups inside the sandbox: a name outside /etc/hosts is unknown, at once and for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.host.layout import CHECKOUT
from rehearsal.host.network import _with_hosts_from_files

NAMESPACES = [
    "--user",
    "--map-root-user",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--mount-proc",
    "--propagation",
    "private",
]
LOOK_UP = """
import socket, time
from rehearsal.host.network import prepare_sandbox
prepare_sandbox()
started = time.monotonic()
try:
    socket.getaddrinfo("openidconnect.googleapis.com", 443)
except socket.gaierror as error:
    print(error.errno == socket.EAI_NONAME, error, time.monotonic() - started < 1.0)
print(socket.getaddrinfo("localhost", 80, socket.AF_INET)[0][4])
"""


@pytest.mark.unit
def test_only_the_source_of_host_names_changes() -> None:
    before = "passwd: files systemd\n hosts:  files dns\nnetworks: files\n"
    assert _with_hosts_from_files(before) == "passwd: files systemd\nnetworks: files\nhosts: files\n"
    assert _with_hosts_from_files("") == "hosts: files\n"


@pytest.mark.rehearsal
@pytest.mark.skipif(not Path("/etc/nsswitch.conf").is_file(), reason="this machine has no /etc/nsswitch.conf")
def test_a_look_up_in_the_sandbox_fails_at_once_and_finally() -> None:
    command = ["unshare", *NAMESPACES, "--", sys.executable, "-c", LOOK_UP]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    refused, local = done.stdout.splitlines()
    assert refused.startswith("True") and "Name or service not known" in refused and refused.endswith("True")
    assert local == "('127.0.0.1', 80)"
