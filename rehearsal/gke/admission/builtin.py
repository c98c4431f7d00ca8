"""What GKE puts into every cluster: the definition of ProvisioningRequests, its own rule about them, and what Jobs on TPUs get.

GKE Warden refuses a request with more than one pod set when it is created (ray-project/ray #57839). Warden is a webhook of Google's; here
the same rule is a ValidatingAdmissionPolicy, so the refusal names that instead of the webhook, with the same text after it.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.gcp.core import Object
from rehearsal.gke.admission import tpu_jobs
from rehearsal.gke.admission.policies import GROUP, enforce, ensure
from rehearsal.gke.provisioning.requests import CLASS
from rehearsal.kubernetes.kubeapi import KubeApi

_NAME = "provisioning-request-cr-validation.gke.io"
_RULE = "the queued provisioning feature currently supports only single PodSet per request"
REJECTED = "GKE Warden rejected the request because it violates one or more constraints. Violations details: "
"""How every refusal of Warden begins. Warden has a line break in it, which a policy's message cannot have."""
_REFUSAL = f'{REJECTED}{{"[denied by provisioning-request-cr-validation]":["{_RULE}"]}}'


def install(kubeconfig: Path, definitions: Path) -> bool:
    """Brings a cluster's built-in objects to what they should be. Idempotent. False when the API server went away meanwhile."""
    try:
        api = KubeApi(kubeconfig)
        for path in sorted(definitions.glob("*/*.yaml")):
            ensure(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", yaml.safe_load(path.read_text()))
        enforce(api, _policy())
        enforce(api, tpu_jobs.policy())
    except client.ApiException as error:
        if error.status < 500 and error.status != 429:
            raise
        return False
    except (HTTPError, OSError):
        return False
    return True


def _policy() -> Object:
    rule = {"apiGroups": ["autoscaling.x-k8s.io"], "apiVersions": ["*"], "operations": ["CREATE"]}
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": _NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{**rule, "resources": ["provisioningrequests"]}]},
            "matchConditions": [{"name": "queued", "expression": f"object.spec.provisioningClassName == '{CLASS}'"}],
            "validations": [{"expression": "object.spec.podSets.size() == 1", "message": _REFUSAL}],
        },
    }
