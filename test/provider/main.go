// Command provider is a small Terraform provider for tests: its resources are JSON objects of a
// loopback HTTP API, which the test controls.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

func main() {
	err := providerserver.Serve(context.Background(),
		func() provider.Provider { return lab{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/driftd/lab"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve provider:", err)
		os.Exit(1)
	}
}
