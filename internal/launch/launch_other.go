//go:build unix && !linux

package launch

import (
	"errors"
	"os"
	"syscall"
)

// guard becomes the program: other kernels than Linux neither seal it nor give its orphans
// to this process. Its output has no bound.
func (l Launch) guard() (int, error) { return 1, l.become() }

func (l Launch) become() error {
	err := syscall.Exec(l.Program, append([]string{l.Program}, os.Args[1:]...), passedOn())
	return errors.Join(errors.New("start "+l.Program), err)
}

// Program returns the path of the running program.
func Program() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
