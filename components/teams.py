"""Teams as resources: each with a namespace, its members' rights in it and a ceiling; and the fence around all of them.
Their queues are made with all others (`queues.py`)."""

# Manifests are plain dictionaries, which Pulumi takes at run time and its types do not describe.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from pulumi_kubernetes.core.v1 import Namespace, ResourceQuota
from pulumi_kubernetes.rbac.v1 import Role, RoleBinding

from components.manifests.teams import (
    JOB_POLICY,
    MEMBER,
    POD_POLICY,
    RBAC_GROUP,
    chip_quota,
    job_policy,
    member_rules,
    namespace,
    pod_policy,
    policy_binding,
    subjects,
)
from components.options import child
from settings.plan.teams import TeamPlan
from settings.schema.stack import TimeoutsSection


class TpuAdmissionPolicies(pulumi.ComponentResource):
    """No chips outside of queues in the namespaces of teams. The reasons are in `team_manifests.py`."""

    bindings: list[pulumi.Resource]

    def __init__(self, name: str, after: Sequence[pulumi.Resource], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:team:QueueFence", name, None, opts)
        self.bindings = []
        for policy, spec in ((POD_POLICY, pod_policy()), (JOB_POLICY, job_policy())):
            made = ValidatingAdmissionPolicy(
                f"{name}-{policy}", metadata={"name": policy}, spec=spec, opts=child(self, after)
            )
            binding = ValidatingAdmissionPolicyBinding(
                f"{name}-{policy}-binding",
                metadata={"name": policy},
                spec=policy_binding(policy),
                opts=child(self, [made]),
            )
            self.bindings.append(binding)
        self.register_outputs({"policies": [POD_POLICY, JOB_POLICY]})


@dataclass(frozen=True)
class TeamArgs:
    team: TeamPlan
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """The fence: there is no moment at which a team's namespace is without it."""


class Team(pulumi.ComponentResource):
    """One team. Members get their rights last, in a namespace that has its ceiling."""

    namespace: Namespace

    def __init__(self, name: str, args: TeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:team:Team", name, None, opts)
        team = args.team
        self.namespace = Namespace(
            f"{name}-namespace",
            metadata=namespace(team),
            opts=child(self, args.after, None, args.timeouts.deletion),
        )
        quota = ResourceQuota(
            f"{name}-ceiling",
            metadata={"name": "tpu-ceiling", "namespace": team.namespace},
            spec={"hard": chip_quota(team)},
            opts=child(self, [self.namespace]),
        )
        role = Role(
            f"{name}-member",
            metadata={"name": MEMBER, "namespace": team.namespace},
            rules=member_rules(),
            opts=child(self, [self.namespace]),
        )
        if subjects(team):
            RoleBinding(
                f"{name}-members",
                metadata={"name": MEMBER, "namespace": team.namespace},
                role_ref={"apiGroup": RBAC_GROUP, "kind": "Role", "name": MEMBER},
                subjects=subjects(team),
                opts=child(self, [role, quota]),
            )
        self.register_outputs({"namespace": team.namespace})
