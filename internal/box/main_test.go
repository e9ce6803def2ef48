package box_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/box"
)

// TestMain is also the box.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == weakVerb {
		if err := runWeak(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 2 || os.Args[1] != box.Verb {
		os.Exit(m.Run())
	}
	if err := box.Serve(os.Stdin, os.Stdout, jobs()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// jobs are what a box does in tests: what input could make a library do at worst.
func jobs() map[string]box.Job {
	return map[string]box.Job{
		"echo":  box.NewJob(func(_ fs.FS, text string) (string, error) { return text, nil }),
		"fail":  box.NewJob(func(_ fs.FS, text string) (string, error) { return "", errors.New(text) }),
		"panic": box.NewJob(func(_ fs.FS, text string) (string, error) { panic(text) }),
		"read": box.NewJob(func(files fs.FS, name string) (string, error) {
			data, err := fs.ReadFile(files, name)
			return string(data), err
		}),
		"stat": box.NewJob(func(files fs.FS, name string) (string, error) {
			info, err := fs.Stat(files, name)
			if err != nil {
				return fmt.Sprint(errors.Is(err, fs.ErrNotExist)), err
			}
			return fmt.Sprint(info.Mode(), info.Size()), nil
		}),
		"spin": box.NewJob(func(fs.FS, string) (string, error) {
			for {
				runtime.Gosched()
			}
		}),
		"recurse": box.NewJob(func(fs.FS, string) (int, error) { return recurse(1), nil }),
		"take": box.NewJob(func(_ fs.FS, megabytes int) (int, error) {
			var taken [][]byte
			for range megabytes {
				chunk := make([]byte, 1<<20)
				for i := range chunk {
					chunk[i] = 1
				}
				taken = append(taken, chunk)
			}
			return len(taken), nil
		}),
		"much":   box.NewJob(func(_ fs.FS, megabytes int) (string, error) { return strings.Repeat("x", megabytes<<20), nil }),
		"escape": box.NewJob(func(_ fs.FS, dir string) (map[string]string, error) { return escapes(dir), nil }),
		"start":  box.NewJob(func(fs.FS, string) ([]int, error) { return started() }),
		"limits": box.NewJob(func(fs.FS, string) ([]uint64, error) {
			var core, size syscall.Rlimit
			err := errors.Join(syscall.Getrlimit(syscall.RLIMIT_CORE, &core), syscall.Getrlimit(syscall.RLIMIT_FSIZE, &size))
			return []uint64{core.Max, size.Max}, err
		}),
	}
}

func recurse(n int) int {
	if n == 0 {
		return 0
	}
	return recurse(n+1) + 1
}

// escapes tries each way out, and returns what went wrong with it, "" where nothing did.
func escapes(dir string) map[string]string {
	found := map[string]string{}
	try := func(way string, err error) {
		found[way] = ""
		if err != nil {
			found[way] = err.Error()
		}
	}
	_, err := os.ReadFile("/etc/passwd")
	try("read a file", err)
	_, err = os.ReadFile("/proc/self/environ")
	try("read its environment", err)
	_, err = os.ReadDir(dir)
	try("list a folder", err)
	try("write a file", os.WriteFile(dir+"/written", []byte("x"), 0o600))
	for _, network := range []string{"tcp", "udp", "tcp6", "udp6", "unix", "unixgram", "ip4:icmp"} {
		to := map[string]string{"unix": dir + "/socket", "unixgram": dir + "/socket", "ip4:icmp": "127.0.0.1", "tcp6": "[::1]:9", "udp6": "[::1]:9"}[network]
		if to == "" {
			to = "127.0.0.1:9"
		}
		c, err := net.Dial(network, to)
		if err == nil {
			_ = c.Close()
		}
		try("dial "+network, err)
	}
	_, err = net.Listen("tcp", "127.0.0.1:0")
	try("listen", err)
	try("start a program", exec.Command("/bin/true").Run())
	try("replace itself", syscall.Exec("/bin/true", []string{"true"}, nil))
	_, err = syscall.ForkExec("/bin/true", []string{"true"}, nil)
	try("fork", err)
	try("signal the parent", syscall.Kill(os.Getppid(), 0))
	try("raise a limit", syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}))
	try("change the root", syscall.Chroot(dir))
	escapesOfSystem(try)
	return found
}
