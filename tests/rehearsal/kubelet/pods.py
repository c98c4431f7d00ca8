"""Small pods for the tests of the rehearsal's kubelet."""

from __future__ import annotations

from typing import Any


def container(name: str = "c", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "registry.example/tool:1", **fields}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u-1", "generation": 1, "labels": {"b": "2", "a": 'x"y'}},
        "spec": {"nodeName": "n", "containers": list(containers) or [container()], **spec},
    }
