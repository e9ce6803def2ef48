package server

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// scan starts a scan and responds when it ends. It sets no time limit, because the scan has its
// own.
func (a API) scan(w http.ResponseWriter, r *http.Request) {
	var report any
	err := Unhurried(w, func() (err error) {
		report, err = a.runScan(r)
		return err
	})
	a.reply(w, r, report, err)
}

// Unhurried calls do without the read and write deadlines of the connection, and restores them afterwards.
func Unhurried(w http.ResponseWriter, do func() error) error {
	control := http.NewResponseController(w)
	if err := Supported(errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))); err != nil {
		return fmt.Errorf("remove the time limits of a connection: %w", err)
	}
	err := do()
	if limit := Supported(control.SetWriteDeadline(time.Now().Add(writeTimeout))); limit != nil {
		err = errors.Join(err, fmt.Errorf("limit the time of an answer: %w", limit))
	}
	return err
}

// Supported returns err, or nil if err means that a ResponseWriter does not support deadlines, as is the
// case within a process.
func Supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (a API) runScan(r *http.Request) (any, error) {
	p, err := a.params(r, "source")
	if err != nil {
		return nil, err
	}
	if a.Scanner == nil {
		return nil, &Error{Status: http.StatusServiceUnavailable, Message: "no daemon runs here", Hint: "start driftd serve"}
	}
	report, err := a.Scanner.Scan(r.Context(), p.list("source"))
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return public(report), nil
}

// public returns a report with secrets removed, times in UTC, and no null lists.
func public(r model.Report) model.Report {
	findings := make([]model.Finding, len(r.Findings))
	for i, f := range r.Findings {
		findings[i] = f.Public()
	}
	r.Scan, r.Findings = r.Scan.Public(), findings
	r.Coverage = append([]model.Coverage{}, r.Coverage...)
	return r
}
