// Package state parses Terraform and OpenTofu states of format 4, including encrypted ones, one instance at
// a time. It does not fetch states; package backend does.
package state
