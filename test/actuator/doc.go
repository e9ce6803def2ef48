// Package actuator tests what driftd writes to a real API server.
package actuator
