"""Registers the resources listed in BARE_RESOURCES, a JSON file of [type, name, inputs], and nothing else."""

import json
import os
from pathlib import Path

import pulumi
import pulumi_gcp
import pulumi_kubernetes

rows = json.loads(Path(os.environ["BARE_RESOURCES"]).read_text())
google = pulumi_gcp.Provider("google", project="bare-project", region="us-west4")
kubernetes = pulumi_kubernetes.Provider("kubernetes", kubeconfig=os.environ["BARE_KUBECONFIG"])
for kind, name, inputs in rows:
    provider = google if kind.startswith("gcp:") else kubernetes
    pulumi.CustomResource(kind, name, inputs, pulumi.ResourceOptions(provider=provider))
