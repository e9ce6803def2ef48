//go:build !linux

package cli

// releaseProgramPages does nothing on this system.
func releaseProgramPages() error { return nil }
