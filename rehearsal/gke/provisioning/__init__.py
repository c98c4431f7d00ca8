"""Queued provisioning: ProvisioningRequests and the order in which they are served."""
