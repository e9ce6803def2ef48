package web

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// TestReasonIsShownOnce verifies that a reason that is shown for a source is not repeated for the
// resources in it.
func TestReasonIsShownOnce(t *testing.T) {
	t.Parallel()
	said := func(data string) phrase.Phrase {
		return phrase.Phrase{{Text: "17 resources in "}, {Text: "netbox", Data: true}, {Text: ": "}, {Text: data, Data: true}}
	}
	stale := []sourceView{{SourceRun: model.SourceRun{Name: "netbox", Err: "502 Bad Gateway"}, Trouble: "could not be read: 502 Bad Gateway"}, {Trouble: "not read yet"}}
	for data, want := range map[string]string{
		"502 Bad Gateway": "17 resources in netbox, as netbox could not be read",
		"read it from source netbox: 502 Bad Gateway": "17 resources in netbox, as netbox could not be read",
		"403 Forbidden": "17 resources in netbox: 403 Forbidden",
	} {
		before := said(data)
		if got := once([]phrase.Phrase{before}, stale)[0].String(); got != want {
			t.Errorf("%q is said as %q, want %q", data, got, want)
		}
		if before.String() != said(data).String() {
			t.Error("what others share was changed")
		}
	}
	if got := once([]phrase.Phrase{nil, {{Text: "502 Bad Gateway"}}}, stale)[1].String(); got != "502 Bad Gateway" {
		t.Errorf("a phrase of one word became %q", got)
	}
}

func TestLengthsAreSpelledOut(t *testing.T) {
	t.Parallel()
	for length, want := range map[string]string{"24h": "24 hours", "1d": "1 day", "7d": "7 days", "90m": "90m", "2026-11-20": "2026-11-20", "d": "d", "": ""} {
		if got := spelled(length); got != want {
			t.Errorf("%q is spelled %q, want %q", length, got, want)
		}
	}
}
