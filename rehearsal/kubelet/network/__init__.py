"""Pod networks: one network namespace per pod, connected to the cluster's bridge."""
