// CoreDNS with the plugins that a cluster's DNS is made of, and no others: its own main package has all that exist, with the
// libraries of every cloud.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

// The order in which a question passes the plugins; CoreDNS wants it whole, before any file is read.
func init() {
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "template"}
}

func main() {
	coremain.Run()
}
