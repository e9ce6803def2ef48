package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A region is a part of the memory, from begin up to end.
type region struct{ begin, end uintptr }

// forgetProgram gives back the pages of the program's own file that were needed
// to start: most of what its libraries initialize is never looked at again. What
// is needed is read again from the file, a few pages at a time.
func forgetProgram() (err error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program's file: %w", err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read what is mapped: %w", err)
	}
	defer func() { err = errors.Join(err, maps.Close()) }()
	regions, err := untouched(maps, program)
	if err != nil {
		return fmt.Errorf("read what is mapped: %w", err)
	}
	for _, r := range regions {
		// Without the first, some kernels bring back two megabytes at a time;
		// others do not know it.
		_ = madvise(r, unix.MADV_NOHUGEPAGE)
		if err := madvise(r, unix.MADV_DONTNEED); err != nil {
			return fmt.Errorf("give back the program's pages: %w", err)
		}
	}
	return nil
}

func madvise(r region, advice uintptr) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, r.begin, r.end-r.begin, advice); errno != 0 {
		return errno
	}
	return nil
}

// untouched returns the regions of a file that are as the file is: nobody may
// write to them, and nobody has, such as the loader. It reads /proc/self/smaps
// (proc_pid_smaps(5)).
func untouched(smaps io.Reader, file string) ([]region, error) {
	var regions []region
	var current region
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			current = region{}
			if readOnly := fields[1] == "r--p" || fields[1] == "r-xp"; readOnly && strings.HasSuffix(lines.Text(), " "+file) {
				current = parseRegion(fields[0])
			}
		case len(fields) >= 2 && fields[0] == "Anonymous:" && fields[1] == "0" && current.end > current.begin:
			regions = append(regions, current)
		}
	}
	return regions, lines.Err()
}

// parseRegion reads "400000-5e7000"; what is none is empty.
func parseRegion(text string) region {
	from, to, _ := strings.Cut(text, "-")
	begin, beginErr := strconv.ParseUint(from, 16, 64)
	end, endErr := strconv.ParseUint(to, 16, 64)
	if beginErr != nil || endErr != nil {
		return region{}
	}
	return region{uintptr(begin), uintptr(end)}
}
