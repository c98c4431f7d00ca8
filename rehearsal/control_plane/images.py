"""The image table: which container images run which local programs (`images.yaml` in the state folder).

An image that no row matches is simulated by kwok. REHEARSAL_IMAGES names a table that replaces this one. Python
images have rows where pods are real (REHEARSAL_PODS), which the table states once for each start.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from rehearsal.host import python_images
from rehearsal.host.layout import Layout
from rehearsal.host.python_images import PYTHON_IMAGES, PythonImage
from rehearsal.kubelet.containers.variables import PATH
from rehearsal.kubernetes.image_table import duration_ms

PODS = "REHEARSAL_PODS"
LEAST_REAL_MIB = 8 * 1024
"""With less memory the training pods are simulated by default: each process of a slice takes about 700 MiB."""
DEFAULT_DURATION = "8s"


def default_table(layout: Layout) -> dict[str, Any]:
    """The managers of Kueue, JobSet and KubeRay always run for real; their images are named by their own projects' charts."""
    rows = [_python_row(layout, image) for image in PYTHON_IMAGES] if pods_are_real() else []
    return {
        "images": [
            {
                "match": r"(^|/)kueue:",
                "program": str(layout.bin / "kueue"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
            {
                "match": r"(^|/)jobset:",
                "program": str(layout.bin / "jobset"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
            {
                "match": r"(^|/)kuberay/operator:",
                "program": str(layout.bin / "kuberay"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
            *rows,
        ],
        "simulated": {"duration": _duration()},
    }


def _python_row(layout: Layout, image: PythonImage) -> dict[str, Any]:
    """The machine's own files, read-only, with the environment's programs first on the path; Python images have no entrypoint."""
    home = python_images.home(layout, image)
    return {
        "match": image.match,
        "entrypoint": [],
        "cmd": ["python3"],
        "rootfs": "host",
        "show": [str(home)],
        # On nodes of their own in a cluster; here they must leave the managers, which have deadlines, their part of the processors.
        "nice": image.nice,
        "memory": f"{image.memory_mib}Mi",
        **({"jobs": max(1, _cores() // image.cores_per_job)} if image.cores_per_job is not None else {}),
        "environment": {
            "PATH": f"{home / 'bin'}:{PATH}",
            "LANG": "C.UTF-8",
            # There is no index to ask: what is missing is said at once, not after minutes of attempts.
            "PIP_RETRIES": "0",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            **image.variables,
        },
    }


def pods_are_real() -> bool:
    """Whether pods of Python images run as processes: as REHEARSAL_PODS says, else where the machine's memory allows it.
    Raises ValueError."""
    stated = os.environ.get(PODS)
    if stated is None:
        return _memory_mib() >= LEAST_REAL_MIB
    if stated not in ("real", "simulated"):
        raise ValueError(f"{PODS} is {stated!r}: wanted real or simulated")
    return stated == "real"


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def _duration() -> str:
    """How long a simulated job runs (REHEARSAL_JOB_DURATION). Raises ValueError."""
    stated = os.environ.get("REHEARSAL_JOB_DURATION", DEFAULT_DURATION)
    try:
        duration_ms(stated)
    except ValueError as error:
        raise ValueError(f"REHEARSAL_JOB_DURATION is {error}") from error
    return stated


def write_table(layout: Layout) -> None:
    """Writes the table for this start of the rehearsal. Raises ValueError for a setting that is none."""
    named = os.environ.get("REHEARSAL_IMAGES")
    text = Path(named).read_text() if named else yaml.safe_dump(default_table(layout), sort_keys=False)
    if not layout.images.exists() or layout.images.read_text() != text:
        layout.images.write_text(text)
