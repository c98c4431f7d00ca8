"""What pods of a namespace share, as resources: the program's files, and the account by which a bucket knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, ServiceAccount

from components.options import child
from settings.catalogue.labels import SERVICE_ACCOUNT
from workloads.program_files import ProgramFiles


@dataclass(frozen=True)
class PodFilesArgs:
    namespace: str
    code: Sequence[ProgramFiles]
    """The packages that jobs here run from a ConfigMap."""
    checkpoints: bool
    """Whether jobs here write checkpoints."""
    after: Sequence[pulumi.Resource]
    """What makes the namespace."""


class PodFiles(pulumi.ComponentResource):
    """Once in each namespace with training jobs."""

    made: list[pulumi.Resource]
    """What a job's pods cannot start without."""

    def __init__(self, name: str, args: PodFilesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:PodFiles", name, None, opts)
        self.made = [
            ConfigMap(
                f"{name}-{code.package}",
                metadata={"name": code.config_map, "namespace": args.namespace},
                data=code.files,
                immutable=True,
                opts=child(self, args.after),
            )
            for code in args.code
        ]
        if args.checkpoints:
            account = ServiceAccount(
                f"{name}-account",
                metadata={"name": SERVICE_ACCOUNT, "namespace": args.namespace},
                opts=child(self, args.after),
            )
            self.made.append(account)
        self.register_outputs({"namespace": args.namespace})
