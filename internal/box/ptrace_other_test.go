//go:build !linux

package box_test

import "errors"

func ptrace(int) error { return errors.ErrUnsupported }
