// Package systemd installs the packages into a real Debian and runs the service
// there: systemd boots in a container, by `make e2e`.
package systemd
