"""Admission policies of a cluster, by which the stand-in does what webhooks of Google's do: the API server itself evaluates them, so
nothing can be unreachable."""

from __future__ import annotations

from rehearsal.gcp.core import Object
from rehearsal.kubernetes.kubeapi import KubeApi

GROUP = "admissionregistration.k8s.io/v1"
ADMISSION = f"/apis/{GROUP}"


def enforce(api: KubeApi, policy: Object) -> None:
    """Brings an admission policy into force, with a binding of its name; one that validates denies what it refuses."""
    kind, name = policy["kind"], policy["metadata"]["name"]
    denies = {"validationActions": ["Deny"]} if kind == "ValidatingAdmissionPolicy" else {}
    binding = {
        "apiVersion": GROUP,
        "kind": f"{kind}Binding",
        "metadata": {"name": name},
        "spec": {"policyName": name, **denies},
    }
    plural = kind.lower().removesuffix("y")
    ensure(api, f"{ADMISSION}/{plural}ies", policy)
    ensure(api, f"{ADMISSION}/{plural}ybindings", binding)


def ensure(api: KubeApi, path: str, wanted: Object) -> None:
    """Brings one object of the collection at `path` to what it should be."""
    name = wanted["metadata"]["name"]
    if api.get(f"{path}/{name}") is None:
        api.call("POST", path, wanted)
    else:
        api.call("PATCH", f"{path}/{name}", wanted)
