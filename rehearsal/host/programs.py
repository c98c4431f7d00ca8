"""What the rehearsal is built from: one row a program or file, with the module that pins it.

Versions are not here: each module's `go.mod` in `tools/` has them, and `go.sum` their checksums.
"""

from __future__ import annotations

from dataclasses import dataclass

GO_VERSION = "1.27.3"
"""The Go toolchain that builds everything; `tools/go-requirements.txt` pins the same one for machines without Go."""

KUBERNETES_PLUGIN_VERSION = "4.25.0"
"""What the Kubernetes provider calls itself: the release cut from the commit that `tools/pulumi-resource-kubernetes` pins."""


@dataclass(frozen=True)
class Program:
    """A program to build: `package` from the module in `tools/<module>`, named `name`."""

    name: str
    module: str
    package: str
    ldflags: str = ""
    embedded: tuple[tuple[str, str], ...] = ()
    """Files to lay beside the package's source before the build: (module path, file inside that module)."""
    folder: str = "bin"
    """Where it goes, below the state folder."""


@dataclass(frozen=True)
class Shipped:
    """A file or folder taken as it is from a module's source: `source` inside `origin`, to `target` below the state folder.

    Without an `origin` it is the project's own, beside the module's files.
    """

    name: str
    module: str
    origin: str
    source: str
    target: str
    executable: bool = False


_KUBERAY = "github.com/ray-project/kuberay/ray-operator"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"

KUBERNETES_VERSION = "1.36.3"
"""Must equal the version of k8s.io/kubernetes in `tools/cluster/go.mod` (a test compares them): built from a module alone,
the programs do not know their own."""

_STATES_VERSION = " ".join(
    f"-X k8s.io/component-base/version.{key}={value}"
    for key, value in (
        ("gitVersion", f"v{KUBERNETES_VERSION}"),
        ("gitMajor", KUBERNETES_VERSION.split(".")[0]),
        ("gitMinor", KUBERNETES_VERSION.split(".")[1]),
    )
)

PROGRAMS: tuple[Program, ...] = (
    Program("etcd", "cluster", "go.etcd.io/etcd/server/v3"),
    Program("kube-apiserver", "cluster", "k8s.io/kubernetes/cmd/kube-apiserver", _STATES_VERSION),
    Program("kube-controller-manager", "cluster", "k8s.io/kubernetes/cmd/kube-controller-manager", _STATES_VERSION),
    Program("kube-scheduler", "cluster", "k8s.io/kubernetes/cmd/kube-scheduler", _STATES_VERSION),
    Program("kwok", "cluster", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("kueue", "cluster", "sigs.k8s.io/kueue/cmd/kueue"),
    Program("jobset", "cluster", "sigs.k8s.io/jobset"),
    Program("coredns", "coredns", "."),
    Program("kuberay", "kuberay", _KUBERAY),
    Program("pulumi", "engine", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"),
    Program(
        "pulumi-language-python",
        "pulumi-language-python",
        "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    ),
    Program(
        "pulumi-resource-kubernetes",
        "pulumi-resource-kubernetes",
        ".",
        ldflags=f"-X {_KUBERNETES_PROVIDER}/pkg/version.Version={KUBERNETES_PLUGIN_VERSION}",
        embedded=(
            (_KUBERNETES_PROVIDER, "cmd/pulumi-resource-kubernetes/schema.json"),
            (_KUBERNETES_PROVIDER, "cmd/pulumi-resource-kubernetes/terraform-mapping.json"),
        ),
        folder=f"pulumi-home/plugins/resource-kubernetes-v{KUBERNETES_PLUGIN_VERSION}",
    ),
)

CHECKERS: tuple[Program, ...] = (Program("actionlint", "actionlint", "github.com/rhysd/actionlint/cmd/actionlint"),)
"""What checks the project's own files and is no part of the rehearsal. (actionlint's Python package has no program in it: it
downloads one when it is installed.)"""

SHIPPED: tuple[Shipped, ...] = (
    Shipped("Kueue's chart", "cluster", "sigs.k8s.io/kueue", "charts/kueue", "charts/kueue"),
    Shipped("JobSet's chart", "cluster", "sigs.k8s.io/jobset", "charts/jobset", "charts/jobset"),
    *(
        Shipped(f"KubeRay's {part}", "kuberay", origin, source, f"charts/kuberay-operator/{part}")
        for part, origin, source in (
            ("Chart.yaml", "", "chart/Chart.yaml"),
            ("values.yaml", "", "chart/values.yaml"),
            ("templates", "", "chart/templates"),
            ("crds", _KUBERAY, "config/crd/bases"),
            ("files/role.yaml", _KUBERAY, "config/rbac/role.yaml"),
        )
    ),
    Shipped(
        "ProvisioningRequest's definition",
        "cluster",
        "k8s.io/autoscaler/cluster-autoscaler/apis",
        "config/crd",
        "definitions/provisioning-request",
    ),
    Shipped(
        "pulumi-language-python-exec",
        "engine",
        "github.com/pulumi/pulumi/sdk/v3",
        "python/cmd/pulumi-language-python-exec",
        "bin/pulumi-language-python-exec",
        executable=True,
    ),
)

ENGINE = ("pulumi", "pulumi-language-python", "pulumi-language-python-exec", "pulumi-resource-kubernetes")
"""What a Pulumi that is already installed makes unnecessary."""
