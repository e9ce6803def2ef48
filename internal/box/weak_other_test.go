//go:build !linux

package box_test

const weakVerb = "weak"

func runWeak() error { return nil }

const launchVerb = "launch"

func launch(string, []string) int { return 1 }
