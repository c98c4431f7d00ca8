"""Autopilot clusters: what GKE decides for them, what it fills in, and what it refuses.

Published texts: that of node pools is what `gcloud container node-pools list` answers (turbot/steampipe-plugin-gcp #591); that of
zonal clusters is in the Terraform provider's acceptance tests. That nodes get the account of `autoscaling`, and that a `nodeConfig`
and a number of nodes are taken and ignored: hashicorp/terraform-provider-google #8863, #8918, #20230, pulumi/pulumi-java #1885.
`gcloud container clusters create-auto` itself sends one pool, `default-pool`, for the account and the scopes in it. What a cluster
reads back is in Google's comparison of the two modes (docs/resources/autopilot-standard-feature-comparison). Other rules are in
plain words.
"""

from __future__ import annotations

from rehearsal.gcp.container import defaults
from rehearsal.gcp.core import ApiError, Call, Handler, Object, invalid
from rehearsal.gcp.machines import REGIONS

DEFAULT_POOL = "default-pool"
ENDLESS = "1000000000"
"""What Autopilot states as the most CPUs and GB of memory that a cluster may grow to."""


def is_autopilot(cluster: Object) -> bool:
    """Whether a cluster, or a request for one, is of this mode."""
    return bool(cluster.get("autopilot", {}).get("enabled"))


def check(stated: Object, location: str) -> None:
    """Raises the first refusal of an Autopilot cluster that is to be made."""
    if location not in REGIONS:
        raise invalid("Autopilot clusters must be regional clusters.")
    if [pool.get("name") for pool in stated.get("nodePools", [])] not in ([], [DEFAULT_POOL]):
        raise invalid("Autopilot clusters do not accept node pools.")
    if stated.get("releaseChannel", {}).get("channel") == "UNSPECIFIED":
        raise invalid("Autopilot clusters must be enrolled in a release channel.")


def completed(cluster: Object, stated: Object) -> Object:
    """A cluster with all that Autopilot sets, whatever was asked for, over GKE's defaults. `stated` is the request."""
    project = cluster["networkConfig"]["network"].split("/")[1]
    return {
        **cluster,
        "autopilot": {"enabled": True, **cluster["autopilot"]},
        "autoscaling": _autoscaling(stated),
        "addonsConfig": {
            **cluster["addonsConfig"],
            "dnsCacheConfig": {"enabled": True},
            "gcePersistentDiskCsiDriverConfig": {"enabled": True},
            "gcpFilestoreCsiDriverConfig": {"enabled": True},
            "gcsFuseCsiDriverConfig": {"enabled": True},
        },
        "networkConfig": {
            **cluster["networkConfig"],
            "datapathProvider": "ADVANCED_DATAPATH",
            "enableIntraNodeVisibility": True,
            "dnsConfig": {
                "clusterDns": "CLOUD_DNS", "clusterDnsScope": "CLUSTER_SCOPE", "clusterDnsDomain": "cluster.local",
            },
            "gatewayApiConfig": {"channel": "CHANNEL_STANDARD"},
        },
        "nodePoolDefaults": defaults.merged(
            cluster["nodePoolDefaults"], {"nodeConfigDefaults": {"gcfsConfig": {"enabled": True}}}
        ),
        "shieldedNodes": {"enabled": True},
        "verticalPodAutoscaling": {"enabled": True},
        "workloadIdentityConfig": {"workloadPool": f"{project}.svc.id.goog"},
    }  # fmt: skip


def _autoscaling(stated: Object) -> Object:
    """Node auto-provisioning without an end. Of what was asked for, the account and the scopes of nodes count."""
    of_pool: Object = next((pool.get("config", {}) for pool in stated.get("nodePools", [])), {})
    asked = {**of_pool, **stated.get("autoscaling", {}).get("autoprovisioningNodePoolDefaults", {})}
    nodes = {
        "oauthScopes": asked.get("oauthScopes", list(defaults.SCOPES)),
        "serviceAccount": asked.get("serviceAccount", "default"),
        "imageType": "COS_CONTAINERD",
        "management": {"autoUpgrade": True, "autoRepair": True},
        "upgradeSettings": {"maxSurge": 1, "strategy": "SURGE"},
    }
    return {
        "enableNodeAutoprovisioning": True,
        "autoscalingProfile": "OPTIMIZE_UTILIZATION",
        "resourceLimits": [{"resourceType": kind, "maximum": ENDLESS} for kind in ("cpu", "memory")],
        "autoprovisioningNodePoolDefaults": nodes,
    }


def hidden() -> ApiError:
    """The refusal of every call about a node pool, reading it included."""
    return invalid("Autopilot node pools cannot be accessed or modified.")


def for_users(handler: Handler, cluster_of: Handler) -> Handler:
    """A handler of calls about node pools, for clusters whose pools are the user's. `cluster_of` finds the cluster that a call names."""

    def checked(call: Call) -> Object:
        if is_autopilot(cluster_of(call)):
            raise hidden()
        return handler(call)

    return checked
