"""Admission policies that GKE installs in every cluster."""
