// Package state reads Terraform and OpenTofu states of format 4, encrypted ones included, one
// instance at a time. It only parses; package backend fetches states.
package state
