package state_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform/state"
)

func TestReadHead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" ", 1<<20)
	tests := map[string]struct {
		text, version string
		serial        int64
		fails         bool
	}{
		"a state": {`{"version":4,"terraform_version":"1.9.8","serial":7,"lineage":"l-1","outputs":{` + long, "1.9.8", 7, false},
		"an encrypted state": {`{"serial":7,"lineage":"l-1","meta":{"key_provider.pbkdf2.k":"eyJ9"},"encrypted_data":"` + long,
			"", 7, false},
		"a version that is a text": {`{"terraform_version":"<b>1.9.8</b>","serial":7,"lineage":"l-1"}`, "", 7, false},
		"a long version":           {`{"terraform_version":"1.9.8-` + strings.Repeat("x", 100) + `","serial":7,"lineage":"l-1"}`, "", 7, false},
		"too long before the head": {`{"check_results":[` + long + `],"serial":7}`, "", 0, true},
		"a serial that is a text":  {`{"serial":"7"}`, "", 0, true},
		"no object":                {`[]`, "", 0, true},
		"nothing":                  {``, "", 0, true},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			head, err := state.ReadHead(strings.NewReader(test.text))
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if test.fails {
				return
			}
			record := head.Record("a")
			if record.Version != test.version || record.Serial != test.serial || record.Lineage != "l-1" {
				t.Errorf("record %+v", record)
			}
		})
	}
}
