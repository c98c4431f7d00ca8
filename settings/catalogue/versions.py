"""Every pinned version, once.

`make bump KUEUE=0.19.2` moves a controller (KUEUE, JOBSET, KUBERAY) together with everything that follows from its version.
"""

GKE_VERSION = "1.34"
"""Default control-plane version. An alias: GKE takes its newest 1.34 patch, because a full patch version stops
being offered after a few weeks and a first `up` with it would then be refused."""

JOBSET_VERSION = "0.12.0"
JOBSET_CHART = "oci://registry.k8s.io/jobset/charts/jobset"
JOBSET_IMAGE = "registry.k8s.io/jobset/jobset"

KUEUE_VERSION = "0.19.1"
KUEUE_CHART = "oci://registry.k8s.io/kueue/charts/kueue"
KUEUE_IMAGE = "registry.k8s.io/kueue/kueue"

KUBERAY_VERSION = "1.6.1"
KUBERAY_CHART = "https://ray-project.github.io/kuberay-helm/kuberay-operator"
KUBERAY_IMAGE = "quay.io/kuberay/operator"

KUEUE_API = "kueue.x-k8s.io/v1beta2"
"""v1beta1 is deprecated and leaves with Kueue 0.20."""
KUEUE_CONFIG_API = "config.kueue.x-k8s.io/v1beta2"
JOBSET_API = "jobset.x-k8s.io/v1alpha2"
RAY_API = "ray.io/v1"

PYTHON_IMAGE = "python:3.12.12-slim-bookworm"
"""jax 0.10 needs Python 3.11 or later; the tutorial's 3.8 image finds no wheel."""
JAX_REQUIREMENT = "jax[tpu]==0.10.2"
TRAINING_REQUIREMENTS = (JAX_REQUIREMENT, "optax==0.2.8", "orbax-checkpoint==0.12.8")
"""What `workloads/programs/training` runs on, in Google's slices and on a laptop. requirements.in names the same versions."""
TRAINING_CONFIGS = ("tiny", "small")
"""The named configurations of `workloads/programs/training`."""

RAY_IMAGE = "rayproject/ray:2.60.0-py311"
"""Python 3.11, which both jax and this Ray take. tools/images/ray.in names the same release."""
RAY_REQUIREMENTS = (*TRAINING_REQUIREMENTS, "pandas==2.3.3")
"""Installed by Ray into a job's environment: the image has no jax, and Ray Train wants pandas. tools/images/ray.in names them too."""
