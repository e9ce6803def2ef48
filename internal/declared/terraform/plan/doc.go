// Package plan runs Terraform or OpenTofu on a private copy of a root, and reads the declared,
// recorded and live values of its instances from the plan.
//
// It has two parts. Read is pure: it converts the JSON of a plan to Instances, whose three trees
// package diff can compare. Run copies the root, runs the CLI within bounds, and passes its output
// to Read. It writes only below Options.CacheDir: it takes no lock, and does not change states,
// lock files or the user's provider cache.
//
// Pull reads only the state, through the backend of a root.
//
// One normal plan has all three values (docs/decisions/0010-one-plan.md): its resource_drift has
// the recorded values from before the refresh, and its resource_changes have the refreshed and the
// declared values. A refresh-only plan is added only if check blocks must be evaluated with live
// values.
package plan
