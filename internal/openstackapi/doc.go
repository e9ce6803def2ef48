// Package openstackapi is the access to an OpenStack cloud: its entry in a clouds.yaml, the login, the endpoints of the
// services, requests, and the meaning of their errors.
package openstackapi
