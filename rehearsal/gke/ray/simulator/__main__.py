"""`python -m rehearsal.gke.ray.simulator`: simulates Ray in one cluster until it is terminated."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from rehearsal.gke.ray.simulator.player import Player
from rehearsal.host.layout import Layout
from rehearsal.kubernetes.client import Client


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.gke.ray.simulator", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the rehearsal's state folder")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, help="where the jobs of each head are kept")
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    player = Player(Client(options.kubeconfig), Layout(options.home), options.state)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: player.end())
    player.run()


if __name__ == "__main__":
    main()
