// Package pveapi sends requests to the API of a Proxmox VE cluster. The collector uses it to read
// the cluster, and the actuator to write to it. The package defines the settings of the connection
// and explains errors that concern the server as a whole.
package pveapi
