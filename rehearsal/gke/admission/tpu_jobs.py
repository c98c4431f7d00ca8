"""What GKE's own webhook puts into the container with TPU chips of a Job whose pods are the hosts of a slice.

What it does, on which conditions and to which values:

- TPU_WORKER_ID and TPU_WORKER_HOSTNAMES: Google's documentation as the README of github.com/abatilo/gke-tpu-env-injector quotes it: a
  mutating webhook adds both when a Job is created with completionMode Indexed, a subdomain, parallelism above 1 and google.com/tpu.
  The number is the pod's completion index; the names are of all hosts of the slice, in the order of those numbers.
- MEGASCALE_NUM_SLICES, MEGASCALE_SLICE_ID and MEGASCALE_COORDINATOR_ADDRESS, for a JobSet of several slices: JobSet's page "TPU Multislice
  Training" shows two slices of 16 chips that count 32 with none of the three in the manifest, and libtpu knows of no other slice without
  them (pull request 375 of AI-Hypercomputer/xpk states them to have other values). The device plugin sets none, by its source, so this is
  done at admission too. The address is the first pod of the first slice (jax/_src/clusters/cloud_tpu_cluster.py) as `<host name>.<name of
  the JobSet>`, without a port: a script of AI-Hypercomputer/maxtext (experimental/weight_transfer) takes it apart.
- What the manifest states itself stays (Pathways' workers state theirs).

Not here, as nobody says what GKE does: slices in a JobSet of one, or of jobs of several templates; MEGASCALE_PORT (libtpu has a default);
pods with several containers that have chips, and TPU_PROCESS_ADDRESSES, which go together on TPU 7x. Google's webhook is a program of its
own; here the same rule is a MutatingAdmissionPolicy.
"""

from __future__ import annotations

from rehearsal.gcp.core import Object
from rehearsal.gke.admission.policies import GROUP

_NAME = "tpu-job-environment.gke.io"
_INDEX = "batch.kubernetes.io/job-completion-index"
_POD = "object.spec.template.spec"
_ENTRY = "Object.spec.template.spec.containers.env"

_CONDITIONS = {
    "indexed": "has(object.spec.completionMode) && object.spec.completionMode == 'Indexed'",
    "several-hosts": "object.spec.parallelism > 1",
    "named": f"has(object.metadata.name) && has({_POD}.subdomain) && {_POD}.subdomain != ''",
    "chips": f"{_POD}.containers.exists_one(c, has(c.resources) && has(c.resources.limits) && 'google.com/tpu' in c.resources.limits)",
}


def _label(name: str) -> str:
    return f"variables.labels['jobset.sigs.k8s.io/{name}']"


_VARIABLES = {
    "labels": "has(object.metadata.labels) ? object.metadata.labels : {}",
    "containers": f"{_POD}.containers",
    "asking": "lists.range(variables.containers.size()).filter(i, has(variables.containers[i].resources) && "
    "has(variables.containers[i].resources.limits) && 'google.com/tpu' in variables.containers[i].resources.limits)",
    "hosts": "lists.range(int(object.spec.parallelism)).map(n, object.metadata.name + '-' + string(n) + '.' + "
    f"{_POD}.subdomain).join(',')",
    "multislice": "['jobset-name', 'replicatedjob-name', 'job-index', 'global-replicas', 'replicatedjob-replicas'].all(name, "
    "'jobset.sigs.k8s.io/' + name in variables.labels) && "
    f"{_label('replicatedjob-replicas')} != '1' && {_label('replicatedjob-replicas')} == {_label('global-replicas')}",
    "first": f"variables.multislice ? {_label('jobset-name')} + '-' + {_label('replicatedjob-name')} + '-0-0.' + "
    f"{_POD}.subdomain : ''",
}


def policy() -> Object:
    rule = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
    return {
        "apiVersion": GROUP,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": _NAME},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [rule]},
            "matchConditions": [{"name": name, "expression": text} for name, text in _CONDITIONS.items()],
            "variables": [{"name": name, "expression": text} for name, text in _VARIABLES.items()],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _patches()}}],
        },
    }


def _patches() -> str:
    """A list of changes for the container with chips: first that it has variables at all, then each that it does not state."""
    source = (
        f"{_ENTRY}.valueFrom{{fieldRef: {_ENTRY}.valueFrom.fieldRef{{fieldPath: \"metadata.labels['{_INDEX}']\"}}}}"
    )
    of_jobset = {
        "MEGASCALE_NUM_SLICES": _label("replicatedjob-replicas"),
        "MEGASCALE_SLICE_ID": _label("job-index"),
        "MEGASCALE_COORDINATOR_ADDRESS": "variables.first",
    }
    changes = [
        f"(has(variables.containers[i].env) ? [] : [JSONPatch{{op: 'add', path: {_path('')}, value: []}}])",
        _added("TPU_WORKER_ID", f"valueFrom: {source}"),
        _added("TPU_WORKER_HOSTNAMES", "value: variables.hosts"),
        *(_added(name, f"value: {value}", "variables.multislice") for name, value in of_jobset.items()),
    ]
    return f"variables.asking.map(i, {' + '.join(changes)}).flatten()"


def _added(name: str, content: str, when: str = "true") -> str:
    stated = f"has(variables.containers[i].env) && variables.containers[i].env.exists(e, e.name == '{name}')"
    change = f"JSONPatch{{op: 'add', path: {_path('/-')}, value: {_ENTRY}{{name: '{name}', {content}}}}}"
    return f"({when} && !({stated}) ? [{change}] : [])"


def _path(end: str) -> str:
    return f"'/spec/template/spec/containers/' + string(i) + '/env{end}'"
