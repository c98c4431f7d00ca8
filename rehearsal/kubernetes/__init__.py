"""Shared by everything that uses a cluster: API clients, kubeconfigs, quantities, times and the image table."""
