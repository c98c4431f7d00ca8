"""The kubelet's part for every pod whose images run local programs; kwok simulates all other pods.

One process serves all nodes of one cluster. What it promises is the kubelet's contract as the Kubernetes documentation
states it (kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle): container states, probes, restarts, graceful
termination, volumes that follow their sources, and the HTTPS API that `kubectl logs` reaches through the API server.
"""
