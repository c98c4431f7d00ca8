"""Containers: their processes, root file systems, environment, probes and records."""
