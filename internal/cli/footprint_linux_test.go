package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const smaps = `00400000-00500000 r-xp 00000000 08:01 42    /opt/a b/driftd
Rss:                 100 kB
Anonymous:             0 kB
00500000-00600000 r--p 00100000 08:01 42    /opt/a b/driftd
Anonymous:             0 kB
00600000-00700000 r--p 00200000 08:01 42    /opt/a b/driftd
Anonymous:             8 kB
00700000-00800000 rw-p 00300000 08:01 42    /opt/a b/driftd
Anonymous:             0 kB
7f0000000000-7f0000100000 r--p 00000000 08:01 43    /var/lib/driftd
Anonymous:             0 kB
7f0000200000-7f0000300000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`

func TestUntouched(t *testing.T) {
	t.Parallel()
	got, err := unmodifiedRegions(strings.NewReader(smaps), "/opt/a b/driftd")
	if err != nil {
		t.Fatal(err)
	}
	want := []region{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(region{})); diff != "" {
		t.Errorf("neither what the loader wrote to, nor what may be written to, nor another file (-want +got):\n%s", diff)
	}
}

func TestForgetProgram(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if regions, err := unmodifiedRegions(strings.NewReader(string(maps)), own); err != nil || len(regions) == 0 {
		t.Errorf("unmodifiedRegions() = %v, %v: the program runs, and is mapped", regions, err)
	}
	if err := releaseProgramPages(); err != nil {
		t.Error(err)
	}
}
