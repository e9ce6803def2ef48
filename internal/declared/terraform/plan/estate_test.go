package plan

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// estate is the folder of the plans that hashicorp/aws made of an estate.
const estate = "../../../../testdata/aws/"

// unzipped returns the content of a file of the estate.
func unzipped(t *testing.T, name string) io.Reader {
	t.Helper()
	content, err := os.ReadFile(estate + name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// readEstate returns the differences that a recorded plan shows, by address.
func readEstate(t *testing.T, name string) (differing map[string][]string, instances int) {
	t.Helper()
	p, err := Decode(unzipped(t, name))
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := DecodeSchemas(unzipped(t, "schemas.json.gz"), p)
	if err != nil {
		t.Fatal(err)
	}
	result := Read(Input{Plan: p, Schemas: schemas}, sealer())
	if !result.Complete {
		t.Errorf("%s is incomplete: %s", name, result.Reason)
	}
	differing = map[string][]string{}
	for _, i := range result.Instances {
		if i.Schema == nil {
			t.Errorf("%s has no schema", i.Address)
		}
		if lines := judged(i); len(lines) > 0 {
			differing[i.Address] = lines
		}
	}
	return differing, len(result.Instances)
}

// TestCleanEstate checks that an estate of AWS does not differ right after its apply.
func TestCleanEstate(t *testing.T) {
	t.Parallel()
	differing, n := readEstate(t, "clean.json.gz")
	if len(differing) > 0 {
		t.Errorf("differences without an edit: %v", differing)
	}
	if n != 72 {
		t.Errorf("read %d instances, want 72", n)
	}
}

// TestEditedEstate checks that a plan shows every edit of a declared resource, with its fields.
func TestEditedEstate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(estate + "expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected []struct {
		Verdict, Address string
		Fields           map[string]any
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	differing, _ := readEstate(t, "edited.json.gz")
	want := map[string]bool{}
	for _, e := range expected {
		if e.Verdict == "unmanaged" {
			continue
		}
		want[e.Address] = true
		lines := strings.Join(differing[e.Address], "\n")
		if !strings.Contains(lines, e.Verdict) {
			t.Errorf("%s: got %q, want %s", e.Address, lines, e.Verdict)
		}
		for field := range e.Fields {
			if !strings.Contains(lines, field) {
				t.Errorf("%s: %s is not in %q", e.Address, field, lines)
			}
		}
	}
	// Parents also have the children that were added by hand.
	got := slices.Sorted(maps.Keys(differing))
	got = slices.DeleteFunc(got, func(address string) bool { return want[address] })
	parents := []string{"aws_network_acl.main", "aws_route_table.private", "aws_route_table.public",
		"aws_security_group.inline", "aws_security_group.rules"}
	if d := cmp.Diff(parents, got); d != "" {
		t.Errorf("other differences (-want +got):\n%s", d)
	}
}

// TestEstateRequests checks that the recorded requests decode, and that people sent the edits.
func TestEstateRequests(t *testing.T) {
	t.Parallel()
	var state struct {
		Resources []struct{ Type, Name string }
	}
	if err := json.NewDecoder(unzipped(t, "state.json.gz")).Decode(&state); err != nil {
		t.Fatal(err)
	}
	if len(state.Resources) < 60 {
		t.Errorf("the state has %d resources", len(state.Resources))
	}
	senders := map[string]map[string]int{}
	for _, name := range []string{"estate.jsonl", "edits.jsonl"} {
		content, err := os.ReadFile(estate + name)
		if err != nil {
			t.Fatal(err)
		}
		senders[name] = map[string]int{}
		for d := json.NewDecoder(bytes.NewReader(content)); d.More(); {
			var r struct{ Service, Region, Who, Method, Path string }
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if r.Service == "" || r.Region == "" || r.Method == "" || r.Path == "" {
				t.Errorf("%s: a request without its destination: %+v", name, r)
			}
			senders[name][r.Who]++
		}
	}
	want := map[string]map[string]int{"estate.jsonl": {"": 102}, "edits.jsonl": {"alice": 10, "bob": 13, "carol": 17}}
	if d := cmp.Diff(want, senders); d != "" {
		t.Errorf("requests by sender (-want +got):\n%s", d)
	}
}
