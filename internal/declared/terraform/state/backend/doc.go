// Package backend fetches Terraform states from files, object stores, databases, Kubernetes
// clusters and Terraform Cloud. It does not write and does not lock. The time and the size of all
// requests are bounded.
package backend
