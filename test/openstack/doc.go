// Package openstack tests the built driftd with a real OpenStack, which Terraform's real
// provider and the real openstack command change. Its tests have the build tag e2e_openstack;
// `make e2e-openstack` installs their requirements and runs them.
package openstack
