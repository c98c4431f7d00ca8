"""Labels, resource names and prefixes that several parts of the program write or read: each is owned here and nowhere else."""

from __future__ import annotations

NAMESPACE = "tpu-platform"
"""The project's name: the prefix of our keys in a stack file, of our component types and of our labels."""

TPU_RESOURCE = "google.com/tpu"
"""The resource that pods request chips by."""
ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
NODEPOOL_LABEL = "cloud.google.com/gke-nodepool"

DEFAULT_POOL = "default-pool"
"""The pool for system pods: GKE's own name for the first pool of a cluster."""
LABEL_PREFIX = f"{NAMESPACE}/"
FLAVOR_LABEL = f"{LABEL_PREFIX}flavor"
"""On the nodes of a flavor with several pools whose shape another flavor has too, so that no label of GKE's identifies them."""
TEAM_LABEL = f"{LABEL_PREFIX}team"
"""On the namespaces of teams; the admission policies select by it."""
PRIVILEGED_ANNOTATION = f"{LABEL_PREFIX}privileged"
"""Its text states why pods need the node's network or a privileged container."""

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""Names the LocalQueue of a job (Kueue)."""
REPLICATED_JOB = "slice"
"""The name of the one replicated job in each of our JobSets: a part of the names of its pods."""
JOBSET_INDEX_LABEL = "jobset.sigs.k8s.io/job-index"
"""On the pods of a JobSet: the number of their replicated Job, which is the number of their slice."""

SERVICE_ACCOUNT = "tpu-training"
"""The Kubernetes service account of pods that write checkpoints, one in each namespace. The bucket's IAM policy names it."""
