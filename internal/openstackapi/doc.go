// Package openstackapi accesses an OpenStack cloud. It reads the entry in a clouds.yaml, logs in,
// finds the endpoints of the services, sends requests, and explains errors.
package openstackapi
