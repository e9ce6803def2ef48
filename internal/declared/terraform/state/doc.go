// Package state reads Terraform and OpenTofu states, format 4, encrypted ones
// too, one instance after the other. It reads nothing but the bytes that it is
// given; package backend knows where states lie.
package state
