"""The feature gates of the pinned Kueue (`versions.KUEUE_VERSION`). A manager that is given another one does not start.

All of them are in pkg/features/kube_features.go of Kueue's module (`defaultVersionedFeatureGates`, the last entry of each). `make bump`
writes the lists; `tests/settings/catalogue/test_kueue_gates.py` compares them with the module where that is in Go's cache.
"""

GATES_OF = "0.19.1"
"""The version that the lists are from."""

FREE = (
    "AdmissionFairSharing", "AdmissionGatedBy", "AssignQueueLabelsForPods", "CleanupProvisioningRequestsOnEviction",
    "ConcurrentAdmission", "CustomMetricLabels", "DeferRayServiceFinalizationForRedisCleanup", "DisableWaitForPodsReady",
    "ElasticJobsViaWorkloadSlices", "ElasticJobsViaWorkloadSlicesWithTAS", "FailureRecoveryPolicy",
    "FairSharingPreemptWithinNominal", "FairSharingPrioritizeNonBorrowing", "FastQuotaReleaseInPodIntegration",
    "FinishOrphanedWorkloads", "FlavorFungibility", "FlavorFungibilityPreserveScanProgress", "KueueDRAIntegration",
    "KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices",
    "KueueDRARejectWorkloadsWhenDRADisabled", "LWSImmutableGroupSize", "LocalQueueMetrics", "MetricForWorkloadCreationLatency",
    "MetricsForCohorts", "MultiKueue", "MultiKueueAdaptersForCustomJobs", "MultiKueueClusterProfile",
    "MultiKueueIncrementalDispatcherConfig", "MultiKueueIncrementalDispatcherRespectConfigOrder",
    "MultiKueueKubeConfigPathValidation", "MultiKueueManagerQuotaAutomation", "MultiKueueOrchestratedPreemption",
    "MultiKueueRemoteSpecSync", "PartialAdmission", "PriorityBoost", "PrioritySortingWithinCohort", "QuotaCheckStrategy",
    "ReclaimablePods", "RecomputeAssignmentUponPreemptionTargetsOverlap", "RejectUpdatesToCQWithInvalidOnFlavors",
    "RemoveFinalizersWithStrictPatch", "SchedulerLibraryIntegration", "SchedulerLongRequeueInterval",
    "SchedulerTimestampPreemptionBuffer", "SchedulingEquivalenceHashing", "ShortWorkloadNames",
    "SkipAncestorCheckForDeletedWorkloads", "SkipReassignmentForPodOwnedWorkloads", "SparkApplicationIntegration",
    "TASAssignmentsEncodingByHostnamePrefix", "TASBalancedPlacement", "TASCacheNodeMatchResults",
    "TASCachingRemainingResources", "TASFailedNodeReplacement", "TASFailedNodeReplacementFailFast",
    "TASHandleOverlappingFlavors", "TASMultiLayerTopology", "TASProfileMixed", "TASRecomputeAssignmentWithinSchedulingCycle",
    "TASReplaceNodeDueToNotReadyOverFixedTime", "TASReplaceNodeOnNodeTaints", "TASReplaceNodeOnPodTermination",
    "TASRespectNodeAffinityPreferred", "TASValidateWorkloadSliceSize", "TLSOptions", "TopologyAwareScheduling",
    "UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability", "VectorizedResourceRequests", "VisibilityOnDemand",
    "WorkloadIdentifierAnnotations", "WorkloadPriorityClassDefaulting", "WorkloadRequestUseMergePatch",
    "WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata",
)  # fmt: skip
"""Can be switched on and off."""

LOCKED = {
    "HierarchicalCohorts": True,
    "ManagedJobsNamespaceSelectorAlwaysRespected": True,
    "MultiKueueAllowInsecureKubeconfigs": False,
    "MultiKueueRedoAdmissionOnEvictionInWorker": True,
    "MultiKueueWaitForWorkloadAdmitted": True,
    "ObjectRetentionPolicies": True,
    "PropagateBatchJobLabelsToWorkload": True,
    "SkipFinalizersForPodsSuspendedByParent": True,
}
"""Have one value, which they leave Kueue with; stating it is allowed, and of no use (`LockToDefault`)."""

ALL_OF_A_KIND = ("AllAlpha", "AllBeta")
"""Kubernetes' own, which switch all gates of a stage that are not stated (k8s.io/component-base/featuregate)."""
