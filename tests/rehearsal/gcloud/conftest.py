"""Google's own client, with no account and settings of its own, pointed at a server in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from rehearsal.environment import gcloud as environment_of_gcloud
from rehearsal.host.layout import Layout
from tests.rehearsal.gcp.process import CHECKOUT, PROJECT, ServerProcess


class Cloud(ServerProcess):
    """The server, and `gcloud` against it."""

    def gcloud(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Google's own client, with no account and settings of its own, pointed at this server."""
        program = shutil.which("gcloud")
        assert program is not None, "gcloud is not installed: these tests need Google's own client on PATH"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CLOUDSDK_")}
        environment = {
            **kept,
            **environment_of_gcloud(self.base, Layout(self.folder, CHECKOUT)),
            "CLOUDSDK_CORE_PROJECT": PROJECT,
            "KUBECONFIG": str(self.folder / "kubeconfig"),
        }
        return subprocess.run(
            [program, *words], env=environment, capture_output=True, text=True, timeout=60, check=False
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """One server for a module, with the APIs on that clusters need."""
    found = Cloud(tmp_path_factory.mktemp("google"))
    found.start()
    try:
        found.enable()
        yield found
    finally:
        found.kill()
