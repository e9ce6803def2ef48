//go:build !linux

package box_test

// escapesOfSystem tries the ways out that only this system has: none.
func escapesOfSystem(func(way string, err error)) {}
