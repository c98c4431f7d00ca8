"""What GKE does to the Kubernetes inside a cluster: its nodes come and go with its pools."""
