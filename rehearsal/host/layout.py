"""Where one checkout's rehearsal keeps its files.

Everything that a rehearsal writes lies under one folder of the checkout (`.rehearsal/`, ignored by git), so that two
checkouts never meet and removing the folder removes the rehearsal. Only the built programs are shared, in the user's cache.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Layout:
    """The folders of one rehearsal. `root` is the state folder, `checkout` the project it belongs to."""

    root: Path
    checkout: Path = CHECKOUT

    @classmethod
    def default(cls) -> Layout:
        """The rehearsal of this checkout, or the one that REHEARSAL_HOME names."""
        return cls(Path(os.environ.get("REHEARSAL_HOME", CHECKOUT / ".rehearsal")).resolve())

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def charts(self) -> Path:
        return self.root / "charts"

    @property
    def definitions(self) -> Path:
        """Definitions of resources that GKE builds into every cluster."""
        return self.root / "definitions"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def scratch(self) -> Path:
        """Temporary files of what runs inside: some programs leave theirs."""
        return self.run / "tmp"

    @property
    def kubeconfig(self) -> Path:
        """For the user's own kubectl, outside."""
        return self.root / "kubeconfig"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def clusters(self) -> Path:
        return self.root / "clusters"

    @property
    def google(self) -> Path:
        return self.root / "google"

    @property
    def buckets(self) -> Path:
        """The objects of Cloud Storage's buckets, as files: a folder for each bucket."""
        return self.root / "buckets"

    @property
    def images(self) -> Path:
        return self.root / "images.yaml"

    @property
    def pulumi_home(self) -> Path:
        return self.root / "pulumi-home"

    @property
    def stacks(self) -> Path:
        return self.root / "stacks"

    @property
    def control_socket(self) -> Path:
        return self.run / "supervisor.sock"

    @property
    def google_socket(self) -> Path:
        return self.run / "google.sock"

    @property
    def pid_file(self) -> Path:
        """The sandbox's first process, as the host numbers it, with its start time (see sandbox.py)."""
        return self.run / "sandbox.json"

    def make(self) -> Layout:
        for folder in (
            self.bin,
            self.charts,
            self.run,
            self.scratch,
            self.logs,
            self.clusters,
            self.google,
            self.buckets,
            self.pulumi_home,
            self.stacks,
        ):
            folder.mkdir(parents=True, exist_ok=True)
        return self
