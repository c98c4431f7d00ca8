"""What GKE fills in for every cluster that does not state it. Values that follow from a cluster's name or place are in defaults.py."""

from __future__ import annotations

from rehearsal.gcp.core import Object

CLUSTER: Object = {
    "networkConfig": {"serviceExternalIpsConfig": {}, "defaultEnablePrivateNodes": False},
    "ipAllocationPolicy": {
        "useIpAliases": True, "stackType": "IPV4", "podCidrOverprovisionConfig": {}, "defaultPodIpv4RangeUtilization": 0.001,
    },
    "addonsConfig": {
        "httpLoadBalancing": {}, "horizontalPodAutoscaling": {}, "kubernetesDashboard": {"disabled": True},
        "networkPolicyConfig": {"disabled": True}, "dnsCacheConfig": {"enabled": True},
        "gcePersistentDiskCsiDriverConfig": {"enabled": True},
    },
    "loggingService": "logging.googleapis.com/kubernetes",
    "monitoringService": "monitoring.googleapis.com/kubernetes",
    "loggingConfig": {"componentConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]}},
    "monitoringConfig": {
        "componentConfig": {"enableComponents": [
            "SYSTEM_COMPONENTS", "DAEMONSET", "DEPLOYMENT", "STATEFULSET", "JOBSET", "STORAGE", "HPA", "POD",
            "CADVISOR", "KUBELET", "DCGM",
        ]},
        "managedPrometheusConfig": {"enabled": True, "autoMonitoringConfig": {"scope": "NONE"}},
        "advancedDatapathObservabilityConfig": {},
    },
    "legacyAbac": {},
    "shieldedNodes": {"enabled": True},
    "databaseEncryption": {"state": "DECRYPTED"},
    "defaultMaxPodsConstraint": {"maxPodsPerNode": "110"},
    "releaseChannel": {"channel": "REGULAR"},
    "autoscaling": {"autoscalingProfile": "BALANCED"},
    "masterAuth": {"clientCertificateConfig": {}},
    "masterAuthorizedNetworksConfig": {"gcpPublicCidrsAccessEnabled": True},
    "privateClusterConfig": {},
    "nodePoolDefaults": {"nodeConfigDefaults": {
        "loggingConfig": {"variantConfig": {"variant": "DEFAULT"}},
        "nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": False},
    }},
    "nodePoolAutoConfig": {"nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": False}},
    "notificationConfig": {"pubsub": {}},
    "securityPostureConfig": {"mode": "BASIC", "vulnerabilityMode": "VULNERABILITY_MODE_UNSPECIFIED"},
    "enterpriseConfig": {"clusterTier": "STANDARD"},
    "rbacBindingConfig": {"enableInsecureBindingSystemUnauthenticated": True, "enableInsecureBindingSystemAuthenticated": True},
    "controlPlaneEndpointsConfig": {
        "ipEndpointsConfig": {
            "enabled": True, "enablePublicEndpoint": True, "globalAccess": False,
            "authorizedNetworksConfig": {"gcpPublicCidrsAccessEnabled": True},
        },
    },
    "podAutoscaling": {"hpaProfile": "HPA_PROFILE_UNSPECIFIED"},
    "anonymousAuthenticationConfig": {"mode": "ENABLED"},
    "userManagedKeysConfig": {},
    "labelFingerprint": "a9dc16a7",
    "status": "PROVISIONING",
}  # fmt: skip
