"""GKE's Ray TPU webhook, which the RayOperator add-on brings: it gives Ray's TPU workers their place in a slice.

The rules are those of the public one (github.com/ai-on-gke/kuberay-tpu-webhook, releases 1.3.x), which is no published Go module.
Not simulated: the additions of 1.4 for PyTorch (TORCH_TPU_*) and for parts of a slice (`cloud.google.com/gke-tpu-slice-topology`).
"""
