package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/store"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	damaged := store.Health{Records: 7, Bytes: 9, Damages: []string{"bucket runs, record number 3: the checksum does not match"}, More: 2}
	cases := map[string]struct {
		reason   string
		verify   func() (store.Health, error)
		want     store.Health
		wantText string
	}{
		"whole":   {"nothing is damaged", func() (store.Health, error) { return store.Health{Records: 7, Damages: []string{}}, nil }, store.Health{Records: 7, Damages: []string{}}, ""},
		"damaged": {"each damage is named", func() (store.Health, error) { return damaged, nil }, damaged, ""},
		"fails":   {"what could not be verified is not whole", func() (store.Health, error) { return store.Health{}, errors.New("disk") }, store.Health{}, "log"},
		"none":    {"no store is there", nil, store.Health{}, "driftd store verify"},
		"no list": {"an answer without a list is not whole", func() (store.Health, error) { return store.Health{}, nil }, store.Health{}, "older version of driftd"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := API{Now: now, Log: quiet(), Verify: c.verify}
			got, err := asking(t, api.Handler()).Verify(t.Context())
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if (err == nil) != (c.wantText == "") || err != nil && !strings.Contains(err.Error(), c.wantText) {
				t.Errorf("%s: got %v, want one that says %q", c.reason, err, c.wantText)
			}
		})
	}
}
