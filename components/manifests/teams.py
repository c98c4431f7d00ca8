"""What a team has beside its queues, as plain data: a namespace, rights in it, a ceiling, and the fence around chips.

The fence. A pod that asks for chips and is in no queue takes nodes that Kueue has given to somebody else. What stops it:

- A ResourceQuota cannot: it counts pods, and Kueue's are like any others to it. Its scopes tell pods apart by their
  PriorityClass only, which Kueue leaves alone. So it is the ceiling here: no more chips than the team may ever have.
- Kueue's `manageJobsWithoutQueueName` suspends jobs without a queue, those without chips too, and says nothing to their owner;
  it needs Kueue to be up, and for pods that nobody made from a job it needs Kueue's hold on every pod of the cluster.
- An admission policy is checked by the API server itself, refuses at once and says why. So there are two: for pods, that they
  carry the label that Kueue puts on those of admitted jobs; for jobs, that they name a queue, or anybody could put that
  label into a job of their own.
"""

from __future__ import annotations

from typing import Any

from settings.catalogue.labels import QUEUE_LABEL, TEAM_LABEL, TPU_RESOURCE
from settings.plan.teams import TeamPlan

ADMITTED_LABEL = "kueue.x-k8s.io/podset"
"""Kueue's, on every pod of a job that it has admitted."""
MEMBER = "team-member"
POD_POLICY, JOB_POLICY = "tpu-pods-of-teams", "tpu-jobs-of-teams"
RBAC_GROUP = "rbac.authorization.k8s.io"

_ALL = ["get", "list", "watch", "create", "update", "patch", "delete"]
_READ = ["get", "list", "watch"]
_CONTROLLERS = ["system:serviceaccounts:kube-system", "system:serviceaccounts:jobset-system"]
"""Who makes and cleans up the jobs inside of other jobs, which have no queue of their own."""

_ASKS = f"c.?resources.?limits.orValue({{}}).exists(r, r == '{TPU_RESOURCE}')"


def namespace(team: TeamPlan) -> dict[str, Any]:
    return {"name": team.namespace, "labels": {TEAM_LABEL: team.name}}


def member_rules() -> list[dict[str, Any]]:
    """Jobs are the members' own; pods are made by their jobs, and queues and quotas by the platform."""
    return [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _ALL},
        {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": _ALL},
        {"apiGroups": ["ray.io"], "resources": ["rayjobs"], "verbs": _ALL},
        {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": _READ},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "localqueues"], "verbs": _READ},
        {"apiGroups": [""], "resources": ["pods", "pods/log", "events", "services"], "verbs": _READ},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": _ALL},
        {"apiGroups": [""], "resources": ["resourcequotas"], "verbs": _READ},
    ]


def subjects(team: TeamPlan) -> list[dict[str, str]]:
    kinds = {"User": team.users, "Group": team.groups}
    return [{"kind": kind, "name": name, "apiGroup": RBAC_GROUP} for kind, names in kinds.items() for name in names]


def chip_quota(team: TeamPlan) -> dict[str, str]:
    """Hard limits of the namespace's ResourceQuota."""
    return {f"requests.{TPU_RESOURCE}": str(team.chip_quota)}


def pod_policy() -> dict[str, Any]:
    """Spec of the ValidatingAdmissionPolicy over pods."""
    return {
        **_constraints([("", ["v1"], ["pods"])], ["CREATE"]),
        "variables": [{"name": "chips", "expression": _any_container("object.spec")}],
        "validations": [
            {
                "expression": f"!variables.chips || '{ADMITTED_LABEL}' in object.metadata.?labels.orValue({{}})",
                "message": f"a pod with {TPU_RESOURCE} in a team's namespace must come from a job that Kueue has admitted: "
                f"submit a Job, JobSet or RayJob with the label {QUEUE_LABEL}",
                "reason": "Forbidden",
            }
        ],
    }


def job_policy() -> dict[str, Any]:
    """Spec of the ValidatingAdmissionPolicy over jobs. On updates too, or the label could be taken off again."""
    queue = f"object.metadata.?labels[?'{QUEUE_LABEL}'].orValue('') != ''"
    plain = f"(object.kind == 'Job' && !({_any_container('object.spec.template.spec')}))"
    kinds = [("batch", ["v1"], ["jobs"]), ("jobset.x-k8s.io", ["*"], ["jobsets"]), ("ray.io", ["*"], ["rayjobs"])]
    return {
        **_constraints(kinds, ["CREATE", "UPDATE"]),
        "matchConditions": [
            {"name": "not-a-controller", "expression": f"!request.userInfo.groups.exists(g, g in {_CONTROLLERS})"}
        ],
        "validations": [
            {
                "expression": f"{queue} || {plain}",
                "message": f"a job in a team's namespace must name its queue: add the label {QUEUE_LABEL} "
                f"(a plain Job without {TPU_RESOURCE} needs none)",
                "reason": "Forbidden",
            }
        ],
    }


def policy_binding(policy: str) -> dict[str, Any]:
    """Spec of the binding: in the namespaces of all teams, and of nobody else."""
    selector = {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}
    return {
        "policyName": policy,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": selector},
    }


def _constraints(kinds: list[tuple[str, list[str], list[str]]], operations: list[str]) -> dict[str, Any]:
    rules = [
        {"apiGroups": [group], "apiVersions": versions, "resources": resources, "operations": operations}
        for group, versions, resources in kinds
    ]
    return {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}}


def _any_container(pod: str) -> str:
    """CEL: whether a container of a pod's spec asks for chips. Kubernetes wants limits for them."""
    return f"{pod}.containers.exists(c, {_ASKS}) || {pod}.?initContainers.orValue([]).exists(c, {_ASKS})"
