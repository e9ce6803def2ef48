// Package backend fetches Terraform states from where they lie: files, object
// stores, databases, clusters, Terraform Cloud. It only ever reads, takes no
// lock, and bounds time and size of all that it fetches.
package backend
