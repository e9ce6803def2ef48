// Package e2e tests the built driftd with real servers and programs: an API server with the
// real kubectl, OpenTofu, Prometheus, Alertmanager and, if installed, Terraform. Its tests have
// the build tag e2e; `make e2e` builds the programs and runs the tests.
//
// In the scripts in testdata/scan and testdata/broken, `apply` is kubectl apply, client-side in
// one run of the script and server-side in the other. `kubectl` is the real one, in a namespace
// of the script's own, $NS. `drift` runs `driftd scan`, checks its exit code, and prints the
// findings, one change a line.
//
// Scripts in testdata/terraform, backends and proxmox run once with each program. `apply`
// initializes and applies a root, `cli` runs the program in a root. `lab` and `pve` edit by
// hand the objects of the providers: a Lab of package tftest and a cluster of package pvelab.
// `drift` also checks that driftd changed no file, sent only reads, and left no process.
package e2e
