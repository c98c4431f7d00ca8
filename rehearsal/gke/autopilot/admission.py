"""What GKE refuses of pods in an Autopilot cluster: the host's namespaces and privileged containers.

The constraints and their words are those that users quote (kubeshark #1425, lacework/helm-charts #191). Warden is a webhook of Google's;
here the same rules are a ValidatingAdmissionPolicy, as in builtin.py, so the refusal names that. Warden looks at pods and at what makes
them, so a Job of such pods is refused as a whole.
"""

from __future__ import annotations

from pathlib import Path

from rehearsal.gcp.core import Object
from rehearsal.gke.admission.builtin import REJECTED
from rehearsal.gke.admission.policies import enforce
from rehearsal.kubernetes.kubeapi import KubeApi

_NAME = "autopilot-constraints.gke.io"
_SYSTEM = ("kube-system", "kube-node-lease", "kube-public", "gke-managed-system", "gmp-system")
"""Namespaces of GKE's own pods, which may do what users' may not."""
_KINDS = (("", ["pods"]), ("apps", ["deployments", "daemonsets", "statefulsets", "replicasets"]), ("batch", ["jobs"]))

_POD = "object.kind == 'Pod' ? object.spec : object.spec.template.spec"
_CONTAINERS = "variables.pod.containers + (has(variables.pod.initContainers) ? variables.pod.initContainers : [])"
_HOST = " + ".join(
    f"(has(variables.pod.{field}) && variables.pod.{field} ? ['\"enabling {field} is not allowed in Autopilot.\"'] : [])"
    for field in ("hostPID", "hostIPC", "hostNetwork")
)
_PRIVILEGED = (
    "variables.containers.filter(c, has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged)"
    ".map(c, '\"container ' + c.name + ' is privileged; not allowed in Autopilot\"')"
)
_VIOLATIONS = " + ".join(
    f"(variables.{found}.size() > 0 ? ['\"[denied by {constraint}]\":[' + variables.{found}.join(',') + ']'] : [])"
    for found, constraint in (("host", "autogke-disallow-hostnamespaces"), ("privileged", "autogke-disallow-privilege"))
)
_VARIABLES = {
    "pod": _POD,
    "containers": _CONTAINERS,
    "host": _HOST,
    "privileged": _PRIVILEGED,
    "violations": _VIOLATIONS,
}


def install(kubeconfig: Path) -> None:
    """Brings the rules into a cluster that answers. Idempotent."""
    enforce(KubeApi(kubeconfig), _policy())


def _policy() -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": _NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": kinds,
                    }
                    for group, kinds in _KINDS
                ],
                "namespaceSelector": {
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(_SYSTEM)}
                    ]
                },
            },
            "variables": [{"name": name, "expression": text} for name, text in _VARIABLES.items()],
            "validations": [
                {
                    "expression": "variables.violations.size() == 0",
                    "messageExpression": f"'{REJECTED}{{' + variables.violations.join(',') + '}}'",
                }
            ],
        },
    }
