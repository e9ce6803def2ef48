package tftest

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/driftd/driftd/test/process"
)

const motoVariable = "DRIFTD_TEST_MOTO"

// StartMoto starts a server that simulates AWS, with an account in which nothing was created.
func StartMoto(ctx context.Context) (*Server, error) {
	program := os.Getenv(motoVariable)
	if program == "" {
		return nil, fmt.Errorf("%s is not set: run the tests through make, or set it to what `sh tools/moto.sh` prints", motoVariable)
	}
	s, _, err := newServer("moto")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, process.Options{
		Program: program, Args: []string{"-H", host, "-p", port}, Env: []string{"HOME=" + s.dir, "PATH=/usr/bin:/bin"},
	}, s.dial)
}
