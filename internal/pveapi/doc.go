// Package pveapi sends requests to the API of a Proxmox VE cluster, for the collector that reads it and for what puts it
// back. It has the settings of the connection, and explains errors of the server as a whole.
package pveapi
