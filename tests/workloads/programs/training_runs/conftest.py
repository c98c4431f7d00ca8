"""One undisturbed run that others are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.local_job import Ended, Job

STEPS, EVERY = 160, 20
TRAINED = ("--config", "tiny", "--steps", str(STEPS), "--checkpoint-every", str(EVERY))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Ended]:
    """Two slices of one host with two chips, without checkpoints."""
    scratch: Path = tmp_path_factory.mktemp("undisturbed")
    with Job(scratch, *TRAINED, slices=2, hosts=1) as job:
        return job.ended()
