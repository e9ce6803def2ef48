package tftest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/driftd/driftd/test/process"
)

const (
	startTimeout = 60 * time.Second
	pollInterval = 50 * time.Millisecond
	// unprivileged is the user of PostgreSQL if the tests run as root, which it refuses.
	unprivileged = 65534
)

// A Server is a backend for states.
type Server struct {
	*process.Process
	// Address is host:port on the loopback.
	Address string
	dir     string
}

// Stop stops the server and removes its files.
func (s *Server) Stop() error { return errors.Join(s.Process.Stop(), os.RemoveAll(s.dir)) }

// S3User and S3Password are the keys of the S3 server.
const (
	S3User     = "driftd-test"
	S3Password = "driftd-test-secret"
)

// StartS3 starts an S3 server with these buckets.
func (t Tools) StartS3(ctx context.Context, buckets ...string) (*Server, error) {
	s, _, err := newServer("s3")
	if err != nil {
		return nil, err
	}
	for _, name := range append(buckets, "") {
		if err := os.MkdirAll(filepath.Join(s.dir, "data", name), 0o700); err != nil {
			return nil, fmt.Errorf("make bucket: %w", err)
		}
	}
	sidecar, versions := filepath.Join(s.dir, "sidecar"), filepath.Join(s.dir, "versions")
	for _, folder := range []string{sidecar, versions} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, fmt.Errorf("make folder for what belongs to objects: %w", err)
		}
	}
	return s.start(ctx, process.Options{
		Program: filepath.Join(t.dir, "versitygw"),
		Args: []string{"--access", S3User, "--secret", S3Password, "--port", s.Address, "--quiet",
			"posix", "--sidecar", sidecar, "--versioning-dir", versions, filepath.Join(s.dir, "data")},
		Env: []string{"HOME=" + s.dir},
	}, s.dial)
}

const postgresVariable = "POSTGRES_BIN"

// StartPostgres starts a PostgreSQL that trusts all loopback clients; its user and its database
// are "postgres".
func StartPostgres(ctx context.Context) (*Server, error) {
	bin := os.Getenv(postgresVariable)
	if bin == "" {
		return nil, fmt.Errorf("%s is not set: run the tests through make, or set it to what `sh tools/postgres.sh` prints", postgresVariable)
	}
	s, port, err := newServer("postgres")
	if err != nil {
		return nil, err
	}
	var uid uint32
	if os.Geteuid() == 0 {
		uid = unprivileged
		if err := os.Chown(s.dir, unprivileged, unprivileged); err != nil {
			return nil, fmt.Errorf("hand over folder: %w", err)
		}
	}
	data := filepath.Join(s.dir, "data")
	env := []string{"HOME=" + s.dir, "PATH=" + bin}
	initdb, err := process.Start(process.Options{
		Program: filepath.Join(bin, "initdb"), Env: env, UID: uid, Log: filepath.Join(s.dir, "initdb.log"),
		Args: []string{"--pgdata", data, "--auth", "trust", "--username", "postgres", "--no-sync", "--encoding", "UTF8"},
	})
	if err != nil {
		return nil, err
	}
	if err := initdb.Wait(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s.start(ctx, process.Options{
		Program: filepath.Join(bin, "postgres"), Env: env, UID: uid,
		Args: []string{"-D", data, "-p", port, "-h", "127.0.0.1", "-k", s.dir, "-F"},
	}, func(ctx context.Context) error {
		return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-h", "127.0.0.1", "-p", port).Run()
	})
}

// newServer creates a folder and finds a port for a server.
func newServer(name string) (s *Server, port string, err error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, "", err
	}
	// The folder of the test is not readable for other users.
	dir, err := os.MkdirTemp("", "driftd-"+name+"-")
	if err != nil {
		return nil, "", fmt.Errorf("make folder of %s: %w", name, err)
	}
	port = strconv.Itoa(ports[0])
	return &Server{Address: net.JoinHostPort("127.0.0.1", port), dir: dir}, port, nil
}

// start starts the server and returns when it is ready.
func (s *Server) start(ctx context.Context, o process.Options, ready func(context.Context) error) (*Server, error) {
	o.Log = filepath.Join(s.dir, "server.log")
	var err error
	if s.Process, err = process.Start(o); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.await(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%w; its last words: %s", err, s.Log()), s.Stop())
	}
	return s, nil
}

func (s *Server) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		if s.Exited() {
			return fmt.Errorf("start server at %s: it exited", s.Address)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %w", s.Address, ctx.Err(), err)
		}
	}
}

// dial checks that the server accepts connections.
func (s *Server) dial(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return err
	}
	return conn.Close()
}
