package main

import (
	"fmt"
	"syscall"
)

// forbidCores lets neither this process nor those that it starts leave a core
// dump: the memory of each holds credentials.
func forbidCores() error {
	var limit syscall.Rlimit
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &limit); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
