"""Registers the resources listed in BARE_RESOURCES, a JSON file of [type, name, inputs], and nothing else."""

import json
import os
from pathlib import Path
from typing import Any

import pulumi
import pulumi_gcp
import pulumi_kubernetes

rows = json.loads(Path(os.environ["BARE_RESOURCES"]).read_text())
google = pulumi_gcp.Provider("google", project="bare-project", region="us-west4")


def register(kind: str, name: str, inputs: dict[str, Any], provider: pulumi.ProviderResource) -> pulumi.CustomResource:
    return pulumi.CustomResource(kind, name, inputs, pulumi.ResourceOptions(provider=provider))


made = {kind: register(kind, name, inputs, google) for kind, name, inputs in rows if kind.startswith("gcp:")}
# As in the program: the cluster's endpoint is not known before it is made, so this provider asks nobody.
kubernetes = pulumi_kubernetes.Provider("kubernetes", kubeconfig=made["gcp:container/cluster:Cluster"].id)
for kind, name, inputs in rows:
    if not kind.startswith("gcp:"):
        register(kind, name, inputs, kubernetes)
