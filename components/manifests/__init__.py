"""Kubernetes objects and Helm values as plain data, derived from the plan."""
