package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestClientInProcess(t *testing.T) {
	t.Parallel()
	a := api(t)
	a.Scanner = scanner(func(_ context.Context, sources []string) (model.Report, error) {
		return model.Report{Version: model.ReportVersion, Scan: model.Scan{ID: strings.Join(sources, "+")}}, nil
	})
	c, ctx := client(a.Handler()), t.Context()

	report, err := c.Report(ctx, Query{Since: "24h", Verdicts: []string{"changed"}, Sources: []string{"prod"}})
	if err != nil || ids(report.Findings) != "f00d01" || report.Scan.ID != "run-2" {
		t.Errorf("Report() = %+v, %v", report, err)
	}
	findings, err := c.Findings(ctx, Query{Resolved: true, Hidden: true})
	if err != nil || ids(findings) != "f00d02 f00d01 beef01 cafe01" {
		t.Errorf("Findings() = %s, %v", ids(findings), err)
	}
	detail, err := c.Finding(ctx, "f00d01")
	if err != nil || detail.Finding.ID != "f00d01" || len(detail.Versions) != 2 {
		t.Errorf("Finding() = %+v, %v", detail, err)
	}
	history, err := c.History(ctx, "Service/shop/web")
	if err != nil || len(history.Versions) != 2 || !history.Versions[1].Gone {
		t.Errorf("History() = %+v, %v", history, err)
	}
	diff, err := c.Diff(ctx, "prod", "90m", "")
	if err != nil || len(diff.Resources) != 3 || !diff.To.Equal(now()) {
		t.Errorf("Diff() = %+v, %v", diff, err)
	}
	report, err = c.Scan(ctx, []string{"prod", "edge"})
	if err != nil || report.Scan.ID != "prod+edge" {
		t.Errorf("Scan() = %+v, %v", report, err)
	}
}

func ids(findings []model.Finding) string {
	all := make([]string, len(findings))
	for i, f := range findings {
		all[i] = f.ID
	}
	return strings.Join(all, " ")
}

func TestClientErrorsCarryTheHint(t *testing.T) {
	t.Parallel()
	c := client(api(t).Handler())
	_, err := c.History(t.Context(), "ConfigMap/shop/web")
	want := &Error{
		Status: http.StatusConflict, Message: `"ConfigMap/shop/web" matches 2 resources`,
		Hint:       "write more of the key, as in edge/kubernetes/ConfigMap/shop/web",
		Candidates: []string{"edge/kubernetes/ConfigMap/shop/web", "prod/kubernetes/ConfigMap/shop/web"},
	}
	var got *Error
	if !errors.As(err, &got) {
		t.Fatalf("History() error = %v, want an *Error", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("History() error (-want +got):\n%s", diff)
	}
	if err.Error() != want.Message+": "+want.Hint {
		t.Errorf("Error() = %q", err)
	}
	if _, err := c.Finding(t.Context(), ""); !errors.As(err, &got) || got.Status != http.StatusBadRequest {
		t.Errorf("Finding() error = %v", err)
	}
	if _, err := c.Finding(t.Context(), "a/b?c"); !errors.As(err, &got) || got.Status != http.StatusNotFound {
		t.Errorf("Finding() error = %v", err)
	}
}

func TestClientOfAnotherServer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		answer http.HandlerFunc
		want   string
	}{
		"proxy": {
			reason: "what refuses may not be driftd",
			answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) },
			want:   "the daemon returned 502 Bad Gateway",
		},
		"page": {
			reason: "what answers may not be driftd",
			answer: func(w http.ResponseWriter, _ *http.Request) {
				if _, err := w.Write([]byte("<html>")); err != nil {
					t.Error(err)
				}
			},
			want: "decode the answer to report",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := client(tt.answer).Report(t.Context(), Query{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: Report() error = %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

func TestInProcess(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	transport := InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.RequestURI
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK) // the first status counts, as on a network
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://driftd/a?b=c", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if body := read(t, answer); answer.StatusCode != http.StatusTeapot || answer.Header.Get("X-Answer") != "yes" || body != "" || <-seen != "/a?b=c" {
		t.Errorf("answer = %+v %q", answer, body)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	c := &Client{HTTP: &http.Client{Transport: transport}}
	if _, err := c.Findings(over, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is over = %v", err)
	}
}
