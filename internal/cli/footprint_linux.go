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

// A region is a range of the address space, from begin up to end.
type region struct{ begin, end uintptr }

// releaseProgramPages releases the pages of the program's own file that were used at the start,
// because most code that initializes libraries runs once. The kernel reads a page again on
// the next access.
func releaseProgramPages() (err error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program's file: %w", err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read the mapped regions: %w", err)
	}
	defer func() { err = errors.Join(err, maps.Close()) }()
	regions, err := unmodifiedRegions(maps, program)
	if err != nil {
		return fmt.Errorf("read the mapped regions: %w", err)
	}
	for _, r := range regions {
		// Without MADV_NOHUGEPAGE, some kernels read two megabytes per fault; others do not
		// support it.
		_ = madvise(r, unix.MADV_NOHUGEPAGE)
		if err := madvise(r, unix.MADV_DONTNEED); err != nil {
			return fmt.Errorf("release the program's pages: %w", err)
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

// unmodifiedRegions returns the mapped regions of a file that are read-only and unmodified; the
// loader modifies some. It reads /proc/self/smaps (proc_pid_smaps(5)).
func unmodifiedRegions(smaps io.Reader, file string) ([]region, error) {
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

// parseRegion parses "400000-5e7000"; any other text gives an empty region.
func parseRegion(text string) region {
	from, to, _ := strings.Cut(text, "-")
	begin, beginErr := strconv.ParseUint(from, 16, 64)
	end, endErr := strconv.ParseUint(to, 16, 64)
	if beginErr != nil || endErr != nil {
		return region{}
	}
	return region{uintptr(begin), uintptr(end)}
}
