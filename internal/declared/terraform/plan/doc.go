// Package plan runs Terraform or OpenTofu on a private copy of a root and
// reads, from the plan that it makes, what is declared, recorded and live.
//
// It has two halves. Read is pure: the JSON of a plan goes in, comes out as
// Instances whose three trees package diff compares without knowing Terraform.
// Runner.Run is the other half: it copies the root, runs the CLI within bounds,
// and hands what it prints to Read. Nothing is written but below
// Options.CacheDir: no lock is taken, no state, no lock file and no provider
// cache of the user is touched.
//
// Pull reads the state alone, through the backend of a root.
//
// One normal plan tells all three sides (docs/decisions/0010-one-plan.md): its
// resource_drift holds the record from before the refresh, its resource_changes
// hold what the refresh saw and what is declared. A refresh-only plan is made
// beside it only where check blocks need judging by what is live.
package plan
