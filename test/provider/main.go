// Command provider is a small Terraform provider for the tests: its resources
// are JSON objects of a loopback HTTP API, which the test holds in its hands.
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
