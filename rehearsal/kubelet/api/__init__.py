"""Communication with the API server: status, events, tokens, and the kubelet's own log endpoint."""
