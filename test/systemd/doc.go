// Package systemd installs the packages into a real Debian and runs the service there: `make
// e2e` boots systemd in a container.
package systemd
