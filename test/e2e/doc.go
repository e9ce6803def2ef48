// Package e2e drives the built driftd against real parts: an API server with
// the real kubectl, OpenTofu, Prometheus, Alertmanager and, where it is
// installed, Terraform.
// Its tests carry the build tag e2e; `make e2e` builds what they need and runs
// them.
//
// The scripts under testdata/scan and testdata/broken are read like this:
// `apply` is kubectl apply, client-side in one run of the script and
// server-side in the other; `kubectl` is the real one, in a namespace of the
// script's own, $NS; `drift` is `driftd scan`, checked for its exit code, with
// the findings printed one change a line.
//
// Those under testdata/terraform, backends and proxmox run once with each
// program: `apply` initializes and applies a root, `cli` runs the program in
// one, `lab` and `pve` edit by hand what the providers manage, a Lab of package
// tftest and a cluster of package pvelab. There `drift` also checks that driftd
// changed no file, sent nothing but reads, and left no process.
package e2e
