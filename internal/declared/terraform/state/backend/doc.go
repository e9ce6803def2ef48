// Package backend fetches Terraform states from files, object stores, databases, Kubernetes clusters and
// Terraform Cloud. It does not write or lock states. It bounds the duration and the size of all requests.
package backend
