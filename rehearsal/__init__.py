"""A rehearsal of Google Kubernetes Engine on one machine: real control plane, real controllers, Google's APIs simulated.

It knows nothing of the program that is rehearsed: it speaks Google's REST API, Pulumi's provider protocol and the
kubelet's contract, and whatever speaks to those can be pointed at it.
"""
