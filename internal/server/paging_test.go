package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaging(t *testing.T) {
	t.Parallel()
	h := rich(t).Handler()
	page := func(query string) Findings {
		t.Helper()
		var f Findings
		status, body := get(t, h, http.MethodGet, "/api/v1/findings?hidden=true&resolved=true"+query)
		if err := json.Unmarshal([]byte(body), &f); err != nil || status != http.StatusOK {
			t.Fatalf("%s = %d %s: %v", query, status, body, err)
		}
		return f
	}
	whole := page("")
	if whole.Total != len(whole.Findings) || whole.Total < 10 {
		t.Fatalf("%d findings of %d", len(whole.Findings), whole.Total)
	}
	var joined Findings
	for offset := 0; offset < whole.Total; offset += 4 {
		next := page(fmt.Sprintf("&limit=4&offset=%d", offset))
		if next.Total != whole.Total || len(next.Findings) > 4 {
			t.Errorf("from %d on: %d findings of %d", offset, len(next.Findings), next.Total)
		}
		joined.Findings = append(joined.Findings, next.Findings...)
	}
	joined.Total = whole.Total
	if diff := cmp.Diff(whole, joined); diff != "" {
		t.Errorf("the pages are not the whole (-whole +pages):\n%s", diff)
	}
	if behind := page("&offset=1000"); behind.Findings == nil || len(behind.Findings) != 0 || behind.Total != whole.Total {
		t.Errorf("behind the last: %+v", behind)
	}
}
