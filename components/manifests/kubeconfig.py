"""The kubeconfig that everything of ours uses: the cluster's name, endpoint and CA, and the plugin for credentials."""

from __future__ import annotations

import json
from typing import Any

import pulumi

from components.cluster import Cluster

AUTH_PLUGIN = "gke-gcloud-auth-plugin"
INSTALL_HINT = (
    f"{AUTH_PLUGIN} is not on PATH. Install it with `gcloud components install {AUTH_PLUGIN}`, "
    f"or with the package google-cloud-cli-{AUTH_PLUGIN}."
)


def kubeconfig(name: str, endpoint: str, ca_certificate: str) -> dict[str, Any]:
    """A kubeconfig with no secret in it: credentials come from the plugin at the moment of use."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{endpoint}", "certificate-authority-data": ca_certificate}}
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": AUTH_PLUGIN,
                        "installHint": INSTALL_HINT,
                        "interactiveMode": "IfAvailable",
                        "provideClusterInfo": True,
                    }
                },
            }
        ],
    }


def kubeconfig_of(cluster: Cluster) -> pulumi.Output[str]:
    """The kubeconfig of a cluster that may not exist yet."""
    parts = pulumi.Output.all(cluster.name, cluster.endpoint, cluster.ca_certificate)
    return parts.apply(lambda known: json.dumps(kubeconfig(*known), sort_keys=True))
