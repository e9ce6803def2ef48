//go:build !linux

package cli

// forgetProgram does nothing here.
func forgetProgram() error { return nil }
