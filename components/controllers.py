"""The controllers as Helm releases: JobSet's, KubeRay where it is not GKE's add-on, and Kueue, which registers at its
start the kinds of jobs whose CRDs are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.helm import v3 as helm

from components.hooks.helm_recovery import ReleaseRecovery
from components.hooks.webhook_ready import Controller, WebhookGate
from components.manifests.helm_values import (
    JOBSET_DEPLOYMENT,
    JOBSET_NAMESPACE,
    KUBERAY_DEPLOYMENT,
    KUBERAY_NAMESPACE,
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
    jobset_values,
    kuberay_values,
    kueue_values,
)
from components.options import child
from settings.catalogue import versions
from settings.schema.field_types import seconds
from settings.schema.ray import RaySection
from settings.schema.stack import KueueSection, TimeoutsSection

JOBSET = Controller("JobSet", JOBSET_NAMESPACE, JOBSET_DEPLOYMENT)
KUBERAY = Controller("KubeRay", KUBERAY_NAMESPACE, KUBERAY_DEPLOYMENT)
KUEUE = Controller("Kueue", KUEUE_NAMESPACE, KUEUE_DEPLOYMENT)


@dataclass(frozen=True)
class ControllerArgs:
    """`chart` is an oci:// address or a folder; `after` is what must be there first (nodes, other controllers)."""

    chart: str
    kubeconfig: pulumi.Output[str]
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]


class JobSetController(pulumi.ComponentResource):
    release: helm.Release
    gate: WebhookGate

    def __init__(self, name: str, args: ControllerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:jobset:JobSetController", name, None, opts)
        self.release = _release(self, "jobset", JOBSET, versions.JOBSET_VERSION, jobset_values(), args)
        self.gate = WebhookGate(JOBSET, args.kubeconfig, seconds(args.timeouts.webhooks))
        self.register_outputs({"namespace": JOBSET_NAMESPACE, "version": versions.JOBSET_VERSION})


class KubeRay(pulumi.ComponentResource):
    """The Ray operator by its own chart. It has no webhook to wait for; the one that tells TPU workers their place in
    their slice comes with GKE's add-on only."""

    release: helm.Release

    def __init__(
        self, name: str, args: ControllerArgs, ray: RaySection, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("tpu-platform:ray:KubeRay", name, None, opts)
        values = kuberay_values(kubernetes_proxy=ray.kubernetes_proxy)
        self.release = _release(self, "kuberay-operator", KUBERAY, versions.KUBERAY_VERSION, values, args)
        self.register_outputs({"namespace": KUBERAY_NAMESPACE, "version": versions.KUBERAY_VERSION})


class Kueue(pulumi.ComponentResource):
    release: helm.Release
    gate: WebhookGate

    def __init__(
        self,
        name: str,
        args: ControllerArgs,
        kueue: KueueSection,
        *,
        ray: bool,
        fair_sharing: bool,
        autopilot: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tpu-platform:kueue:Kueue", name, None, opts)
        values = kueue_values(kueue, ray=ray, fair_sharing=fair_sharing, autopilot=autopilot)
        self.release = _release(self, "kueue", KUEUE, versions.KUEUE_VERSION, values, args)
        self.gate = WebhookGate(KUEUE, args.kubeconfig, seconds(args.timeouts.webhooks))
        self.register_outputs({"namespace": KUEUE_NAMESPACE, "version": versions.KUEUE_VERSION})


def _release(
    parent: pulumi.Resource,
    name: str,
    controller: Controller,
    version: str,
    values: Mapping[str, Any],
    args: ControllerArgs,
) -> helm.Release:
    """Names are fixed: under another one Kueue's role for reading the front proxy's CA does not match its account,
    and its manager ends at start. Not `atomic`: it would remove a controller, and with it its CRDs and every queue,
    because an upgrade was slow."""
    recovery = ReleaseRecovery(name, controller, args.kubeconfig, seconds(args.timeouts.webhooks))
    chart, repository = chart_source(args.chart)
    return helm.Release(
        f"{name}-release",
        name=name,
        namespace=controller.namespace,
        create_namespace=True,
        chart=chart,
        repository_opts=repository,
        # A folder has the version that lies in it.
        version=version if args.chart.startswith(("oci://", "https://")) else None,
        values=dict(values),
        timeout=seconds(args.timeouts.controllers),
        max_history=3,
        opts=child(parent, args.after, args.timeouts.controllers, args.timeouts.deletion, hooks=recovery.binding()),
    )


def chart_source(chart: str) -> tuple[str, helm.RepositoryOptsArgs | None]:
    """(chart, repository): an https:// address is a repository's with the chart's name at its end, as not every project
    publishes to an OCI registry."""
    if not chart.startswith("https://"):
        return chart, None
    repository, name = chart.rstrip("/").rsplit("/", 1)
    return name, helm.RepositoryOptsArgs(repo=repository)
