package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/reach"
)

// A statusError is an answer other than success: a metav1.Status, or what a
// proxy put in its place.
type statusError struct {
	code    int
	message string
	// retryAfter is the pause that the server asks for.
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	if e.message == "" || e.message == http.StatusText(e.code) {
		return fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("%d %s: %s", e.code, http.StatusText(e.code), e.message)
}

// temporary tells a server that is busy from one that has decided.
func (e *statusError) temporary() bool {
	switch e.code {
	case http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// codeOf returns the status code that err carries, or 0.
func codeOf(err error) int {
	var status *statusError
	if errors.As(err, &status) {
		return status.code
	}
	return 0
}

const maxStatus = 64 << 10

// status is the form of a metav1.Status.
type status struct {
	Kind    string `json:"kind"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
}

func (s status) error() *statusError {
	return &statusError{
		code:       s.Code,
		message:    reach.Printable(s.Message),
		retryAfter: time.Duration(s.Details.RetryAfterSeconds) * time.Second,
	}
}

// readStatus returns the error of an answer that is no success.
func readStatus(resp *http.Response) error {
	var s status
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxStatus))
	if err != nil || json.Unmarshal(body, &s) != nil || s.Kind != "Status" {
		s = status{}
	}
	s.Code = resp.StatusCode
	answer := s.error()
	if pause := reach.RetryAfter(resp.Header.Get("Retry-After"), time.Now()); pause > 0 {
		answer.retryAfter = pause
	}
	return answer
}

// A tooLargeError is an answer beyond a bound of the settings.
type tooLargeError struct {
	what    string
	limit   int64
	setting string
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.what, e.limit)
}

// An answerError is an answer that is not what was asked for.
type answerError struct{ reason string }

func (e *answerError) Error() string { return e.reason }
