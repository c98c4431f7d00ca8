"""The faults that a rehearsal can inject, by name."""

CALL_FAULTS = ("stockout", "quota", "slow", "unavailable")
"""Faults of single calls: no machines, no quota, a slow operation, a 503."""

PROVISIONING_FAULTS = ("dws-fail", "dws-silent", "dws-revoke")
"""Faults of Dynamic Workload Scheduler: a request that Google refuses to queue; one that is never served; one whose nodes are taken away
after `after_s` seconds."""

FAULTS = (*CALL_FAULTS, *PROVISIONING_FAULTS)
