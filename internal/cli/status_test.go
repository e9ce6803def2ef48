package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// status runs a command and prints "exit N" after what it wrote.
func status() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("exit", cmd.ProcessState.ExitCode())
}
