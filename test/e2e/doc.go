// Package e2e drives the built driftd against a real API server with the real
// kubectl. Its tests carry the build tag e2e; `make e2e` builds what they need
// and runs them.
//
// The scripts under testdata are read like this: `apply` is kubectl apply,
// client-side in one run of the script and server-side in the other; `kubectl`
// is the real one, in a namespace of the script's own, $NS; `drift` is `driftd
// scan`, checked for its exit code, with the findings printed one change a
// line.
package e2e
