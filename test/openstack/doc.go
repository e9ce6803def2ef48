// Package openstack drives the built driftd against a real OpenStack, which the
// genuine provider of Terraform and the real openstack command line change. Its
// tests carry the build tag e2e_openstack; `make e2e-openstack` installs what
// they need and runs them.
package openstack
