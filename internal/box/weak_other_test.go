//go:build !linux

package box_test

const weakVerb = "weak"

func runWeak() error { return nil }
