"""The control plane of a cluster: etcd, API server, controllers, scheduler, DNS, and the simulation of pods by kwok."""
