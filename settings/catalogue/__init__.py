"""Facts about TPUs, GKE and Kueue, with their sources, and the pinned versions."""
