package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A client that stops reading a backup would keep the store from freeing pages. So each part must
// be read within backupPause, and all of it within backupLimit.
const (
	backupPause = 10 * time.Second
	backupLimit = 10 * time.Minute
)

// backup serves a copy of the whole store, one request at a time. It is served on the unix socket
// only.
func (a API) backup() http.Handler {
	return a.alone(a.Copy != nil, "backups are not available here: run driftd backup on the daemon's host", "another backup is running", a.sendCopy)
}

// alone serves an operation on the whole store, one request at a time. lacking is the hint if the
// store is not available, busy the error while another request runs.
func (a API) alone(has bool, lacking, busy string, serve http.HandlerFunc) http.Handler {
	taken := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := a.params(r); err != nil {
			a.reply(w, r, nil, err)
			return
		}
		if !has {
			message, hint, _ := strings.Cut(lacking, ": ")
			a.reply(w, r, nil, &Error{Status: http.StatusServiceUnavailable, Message: message, Hint: hint})
			return
		}
		select {
		case taken <- struct{}{}:
			defer func() { <-taken }()
			serve(w, r)
		default:
			w.Header().Set("Retry-After", "60")
			a.reply(w, r, nil, &Error{Status: http.StatusServiceUnavailable, Message: busy, Hint: "try again when it is done"})
		}
	})
}

func (a API) sendCopy(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	to := &paced{to: w, control: http.NewResponseController(w), end: time.Now().Add(backupLimit)}
	n, err := a.Copy(to)
	switch {
	case err == nil:
		a.Log.InfoContext(r.Context(), "made a backup", "bytes", n)
	case !to.begun:
		a.reply(w, r, nil, err)
	default:
		a.Log.ErrorContext(r.Context(), "backup not delivered", "err", err)
		// Aborting the connection marks the copy as incomplete.
		panic(http.ErrAbortHandler)
	}
}

// paced is a writer that bounds the time of each write.
type paced struct {
	to      io.Writer
	control *http.ResponseController
	end     time.Time
	begun   bool
}

// Write writes one part within backupPause.
func (p *paced) Write(b []byte) (int, error) {
	p.begun = true
	until := time.Now().Add(backupPause)
	if until.After(p.end) {
		until = p.end
	}
	if err := Supported(p.control.SetWriteDeadline(until)); err != nil {
		return 0, fmt.Errorf("limit the time of a backup: %w", err)
	}
	return p.to.Write(b)
}

// Backup writes a copy of the daemon's database to w. If it returns an error, the copy is
// incomplete.
func (c *Client) Backup(ctx context.Context, w io.Writer) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://driftd/api/v1/backup", http.NoBody)
	if err != nil {
		return fmt.Errorf("ask for a backup: %w", err)
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("ask for a backup: %w", withoutURL(err))
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
		if err != nil {
			return fmt.Errorf("read the answer to backup: %w", err)
		}
		return c.refusal(ctx, "backup", answer.StatusCode, body)
	}
	if _, err := io.Copy(w, answer.Body); err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	return nil
}
