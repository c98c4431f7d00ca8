"""The stack, from the ground up. What each step decides is in `settings`, how it is wired in `components`."""

from pathlib import Path

import pulumi

from components import providers
from components.hooks.engine_shutdown import silence_after_engine
from stack import platform
from stack.outputs import export, stack_outputs
from stack.preflight import plan_of_stack, require_tools

silence_after_engine()
plan = plan_of_stack(Path.cwd())
require_tools(preview=pulumi.runtime.is_dry_run())

google = providers.google_provider(plan.settings)
base = platform.create_foundation(plan, google)
cluster = platform.create_cluster(plan, base, google)
pools = platform.create_slice_pools(plan, base, cluster, google)
monitoring = platform.create_monitoring(plan, base, cluster, google)

kubernetes = providers.kubernetes_provider(cluster)
controllers = platform.create_controllers(plan, cluster, kubernetes)
queues = platform.create_queues(plan, controllers, pools, kubernetes)
checkpoints = platform.create_checkpoints(plan, base, cluster, google)
platform.submit_jobs(plan, cluster, controllers, queues, checkpoints, kubernetes)

export(stack_outputs(plan, cluster, pools, monitoring))
