"""The environment in which programs meet the rehearsal instead of the cloud.

One mapping for whatever runs inside the sandbox (`rehearsal exec`), and one for the user's own `gcloud` outside it. What points
a client at a real account is taken out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from rehearsal.control_plane.control_plane import token
from rehearsal.gcp.services import custom_endpoints, gcloud_overrides
from rehearsal.host.layout import Layout
from rehearsal.host.network import GOOGLE
from rehearsal.host.pulumi_install import installed_engine, plugin

PROVIDER_PORT = 8086

_TAKEN_OUT = (
    "KUBECONFIG", "USER_PROJECT_OVERRIDE", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE_FILE",
    "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy",
)  # fmt: skip
_GOOGLES = ("CLOUDSDK_", "GCLOUD_", "GOOGLE_")
"""All that Google's clients and providers read begins so."""


def real_google_plugin(layout: Layout) -> Path | None:
    """An installed `pulumi-resource-gcp`, which the rehearsal prefers to its own."""
    return plugin("gcp", layout)


def inside(layout: Layout, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a program that runs inside the sandbox."""
    start = dict(os.environ if base is None else base)
    kept = {k: v for k, v in start.items() if k not in _TAKEN_OUT and not k.startswith(_GOOGLES)}
    return {
        **kept,
        **_pulumi(layout, kept.get("PATH", "")),
        **_google(GOOGLE, layout),
        "REHEARSAL_HOME": str(layout.root),
        # The Kubernetes plugin writes a kubeconfig there for each Helm release, and leaves it.
        "TMPDIR": str(layout.scratch),
    }


def _pulumi(layout: Layout, path: str) -> dict[str, str]:
    engine = installed_engine(layout)
    folders = [str(Path(sys.executable).parent), str(layout.bin), *([str(engine.folder)] if engine else []), path]
    settings = {
        "PATH": os.pathsep.join(folders),
        "PULUMI_HOME": str(layout.pulumi_home),
        "PULUMI_BACKEND_URL": f"file://{layout.stacks}",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
        # Takes an installed plugin that is newer than its package, where the engine by itself wants the very same version.
        "PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH": "true",
    }
    if real_google_plugin(layout) is None:
        settings["PULUMI_DEBUG_PROVIDERS"] = f"gcp:{PROVIDER_PORT}"
    return settings


def _google(base: str, layout: Layout) -> dict[str, str]:
    return {
        **custom_endpoints(base),
        "GOOGLE_OAUTH_ACCESS_TOKEN": token(layout),
        # It asks Google's own host for the list of regions, wherever the endpoints point.
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
        **gcloud(base, layout),
    }


def gcloud(base: str, layout: Layout) -> dict[str, str]:
    """What makes Google's own `gcloud` talk to the REST server at `base`."""
    return {
        **gcloud_overrides(base),
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_CONFIG": str(layout.root / "gcloud"),
    }
