"""The kubelet's part for pods that run as real processes: sandboxes, volumes, probes, restarts, logs."""
