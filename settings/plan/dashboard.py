"""The dashboard of a platform, in the form of Cloud Monitoring's API (projects.dashboards, v1).

Metrics by Google's list of GKE system metrics (docs.cloud.google.com/monitoring/api/metrics_kubernetes), those of JobSets by GKE's pages
"Monitor JobSets" and "Collect and view observability metrics". A query in PromQL names `kubernetes.io/node_pool/status` as
`kubernetes_io:node_pool_status`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from settings.plan.plan import Plan

COLUMNS, WIDTH, HEIGHT = 12, 6, 4
"""Of the grid; of each chart in it: two stand side by side."""
_REPLICAS = ("active", "ready", "suspended", "succeeded", "failed")


@dataclass(frozen=True)
class Chart:
    """Lines over time: (legend, query) each. A query's legend names labels of its own in `${}`."""

    title: str
    lines: tuple[tuple[str, str], ...]


def dashboard(plan: Plan) -> dict[str, Any]:
    """The dashboard of the plan's cluster."""
    cluster = plan.settings.cluster.name
    charts = list(_charts(cluster))
    return {
        "displayName": f"TPU platform: {cluster}",
        "mosaicLayout": {"columns": COLUMNS, "tiles": [_tile(index, chart) for index, chart in enumerate(charts)]},
    }


def _charts(cluster: str) -> Iterator[Chart]:
    yield Chart("Slices of each JobSet, by state", tuple(_replicas(cluster, state) for state in _REPLICAS))
    yield Chart("JobSets: uptime, s", (_of_jobsets(cluster, "uptime"),))
    yield Chart("JobSets: mean time to recover, s", (_mean(cluster, "times_to_recover"),))
    yield Chart("JobSets: mean time between interruptions, s", (_mean(cluster, "times_between_interruptions"),))
    yield Chart("Tensor cores in use, %", (_of_nodes(cluster, "tensorcore_utilization"),))
    yield Chart("Memory of the chips in use, %", (_memory(cluster),))
    yield Chart("Slices of several hosts that are whole (1) or not (0)", (_available(cluster),))
    yield Chart("Nodes that Google took away", (_interruptions(cluster),))


def _replicas(cluster: str, state: str) -> tuple[str, str]:
    query = f'sum by (jobset_name) (kube_jobset_{state}_replicas{{cluster="{cluster}"}})'
    return f"${{labels.jobset_name}} {state}", query


def _jobsets(cluster: str) -> str:
    return f'{{monitored_resource="k8s_entity",entity_type="jobset",cluster_name="{cluster}"}}'


_JOBSET = "${labels.entity_namespace}/${labels.entity_name}"


def _of_jobsets(cluster: str, metric: str) -> tuple[str, str]:
    query = f"avg by (entity_namespace, entity_name) (kubernetes_io:jobset_{metric}{_jobsets(cluster)})"
    return _JOBSET, query


def _mean(cluster: str, metric: str) -> tuple[str, str]:
    """Of a distribution: its sum by its count."""
    by = "sum by (entity_namespace, entity_name)"
    total, count = (
        f"{by} (sum_over_time(kubernetes_io:jobset_{metric}_{part}{_jobsets(cluster)}[${{__interval}}]))"
        for part in ("sum", "count")
    )
    return _JOBSET, f"{total} / {count}"


def _of_nodes(cluster: str, metric: str) -> tuple[str, str]:
    selector = f'{{monitored_resource="k8s_node",cluster_name="{cluster}"}}'
    return "${labels.node_name}", f"avg by (node_name) (kubernetes_io:node_accelerator_{metric}{selector})"


def _memory(cluster: str) -> tuple[str, str]:
    selector = f'{{monitored_resource="k8s_node",cluster_name="{cluster}"}}'
    used, total = (
        f"sum by (node_name) (kubernetes_io:node_accelerator_memory_{part}{selector})" for part in ("used", "total")
    )
    return "${labels.node_name}", f"100 * {used} / {total}"


def _available(cluster: str) -> tuple[str, str]:
    """A pool of several hosts is one slice, which is available when all its nodes are. Pools are not named: one more is no change
    of the dashboard."""
    selector = f'{{monitored_resource="k8s_node_pool",cluster_name="{cluster}"}}'
    query = f"min by (node_pool_name) (kubernetes_io:node_pool_multi_host_available{selector})"
    return "${labels.node_pool_name}", query


def _interruptions(cluster: str) -> tuple[str, str]:
    selector = f'{{monitored_resource="k8s_node",cluster_name="{cluster}"}}'
    query = f"sum by (interruption_type, interruption_reason) (kubernetes_io:node_interruption_count{selector})"
    return "${labels.interruption_type} ${labels.interruption_reason}", query


def _tile(index: int, chart: Chart) -> dict[str, Any]:
    """Left and right in turn, from the top. A place at 0 is not stated: Google's API leaves zeros out as well."""
    row, column = divmod(index, COLUMNS // WIDTH)
    place = {key: value for key, value in (("xPos", column * WIDTH), ("yPos", row * HEIGHT)) if value}
    sets = [
        {"plotType": "LINE", "legendTemplate": legend, "timeSeriesQuery": {"prometheusQuery": query}}
        for legend, query in chart.lines
    ]
    return {**place, "width": WIDTH, "height": HEIGHT, "widget": {"title": chart.title, "xyChart": {"dataSets": sets}}}
