package httpclient

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/printable"
)

// A Status is an answer other than success. Its texts fit on one line.
type Status struct {
	Code int
	// Message is the reason in the words of the server, or "". Line is that of the status
	// line.
	Message, Line string
	// Page reports whether the answer is an HTML page.
	Page bool
	// Location is the target of a redirect, without its query.
	Location string
	// RetryAfter is the pause that the server asks for.
	RetryAfter time.Duration
	// Own reports whether the answer is one of the API itself, and not of what stands
	// before it. Only Describe sets it.
	Own bool

	// again reports whether another attempt may succeed.
	again bool
	// answer is the answer, with its body in memory. It is kept for libraries alone: it
	// may be large, and errors live long.
	answer *http.Response
}

// maxError bounds what is read of an unsuccessful answer, in bytes.
const maxError = 64 << 10

// NewStatus returns the error of an unsuccessful answer. It replaces the body by its
// beginning, of up to 64 KiB.
func NewStatus(answer *http.Response, api API) *Status {
	// The code is enough where the body breaks off.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxError))
	hold(answer, body)
	_, line, _ := strings.Cut(answer.Status, " ")
	s := &Status{
		Code:       answer.StatusCode,
		Line:       printable.Text(line),
		Page:       isPage(answer.Header, body),
		RetryAfter: RetryAfter(answer.Header.Get("Retry-After"), time.Now()),
		again:      api.retries(answer),
	}
	if to, err := answer.Location(); err == nil {
		to.User, to.RawQuery, to.Fragment = nil, "", ""
		s.Location = printable.Text(to.String())
	}
	if api.Describe != nil {
		v, _ := decode.JSON(body) // null without an API before it
		api.Describe(s, answer.Header, v)
	}
	return s
}

// Error returns the code and its meaning, and the most telling of what else is known.
func (s *Status) Error() string {
	meaning := cmp.Or(http.StatusText(s.Code), s.Message, s.Line)
	text := strings.TrimSpace(fmt.Sprintf("%d %s", s.Code, meaning))
	switch {
	case s.Location != "":
		return text + ", to " + s.Location
	case s.Message != "" && s.Message != meaning:
		return text + ": " + s.Message
	case s.Page:
		return text + ", with an HTML page"
	}
	return text
}

// StatusOf returns the *Status of an error, or nil.
func StatusOf(err error) *Status {
	status, _ := errors.AsType[*Status](err)
	return status
}

// Code returns the status code of an error, or 0.
func Code(err error) int {
	if status := StatusOf(err); status != nil {
		return status.Code
	}
	return 0
}
