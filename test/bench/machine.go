package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// touched is the memory that measureMachine writes to, in bytes.
const touched = 64 * megabyte

// emptyProgram does nothing.
const emptyProgram = "package main\n\nfunc main() {}\n"

// measureMachine measures what the machine adds to every short command: the start of a program, and pages of memory
// that are new to it. driftd writes to some 1,400 new pages before it prints its version, so that a machine on which
// one takes 20 µs misses the target for that.
func measureMachine(ctx context.Context, s scale, _, dir string) ([]result, error) {
	r := runner{filepath.Join(dir, "machine"), 4 * s.runs}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if err := r.write(map[string]string{"empty.go": emptyProgram}); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", r.path("empty"), r.path("empty.go")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build an empty program: %w: %s", err, out)
	}
	start, err := r.median(r.runs, func(int) (cost, error) { return r.process(ctx, []int{0}, r.path("empty")) })
	if err != nil {
		return nil, err
	}
	page, err := pageTime()
	if err != nil {
		return nil, err
	}
	return []result{
		{what: "this machine: an empty Go program", measured: start.wall.Round(time.Millisecond / 10).String()},
		{what: "  the first write to a page of memory", measured: page.Round(10 * time.Nanosecond).String()},
	}, nil
}

// pageTime returns the time of the first write to a page of memory.
func pageTime() (time.Duration, error) {
	memory, err := syscall.Mmap(-1, 0, touched, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("map memory: %w", err)
	}
	began, size := time.Now(), os.Getpagesize()
	for i := 0; i < len(memory); i += size {
		memory[i] = 1
	}
	took := time.Since(began)
	return took / time.Duration(len(memory)/size), syscall.Munmap(memory)
}
