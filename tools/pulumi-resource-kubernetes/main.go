// The Kubernetes resource provider of Pulumi, as a program.
//
// The published module has no main that builds from the module alone: the one it has embeds two files that its release
// process makes. The tool build lays both beside this file, from the module itself (see rehearsal/host/toolchain.py).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
