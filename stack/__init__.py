"""The composition of components and workloads. Components import no workload, and neither imports this."""
