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

// A Status is the error for a response that is not successful. Its texts fit on one line.
type Status struct {
	Code int
	// Message is the reason that the server gave, or "". Line is the reason phrase of the status
	// line.
	Message, Line string
	// Page reports whether the answer is an HTML page.
	Page bool
	// Location is the target of a redirect, without its query.
	Location string
	// RetryAfter is the pause that the server requested; 0 if it requested none.
	RetryAfter time.Duration
	// Own reports whether the response comes from the API itself and not from a proxy in front of
	// it. Only API.Describe sets it.
	Own bool

	// again reports whether another attempt may succeed.
	again bool
	// answer is the response with its body in memory. It is kept only for libraries, since it may
	// be large and errors are kept long.
	answer *http.Response
}

// maxError bounds what is read of an unsuccessful answer, in bytes.
const maxError = 64 << 10

// NewStatus returns the error for an unsuccessful response. It reads up to 64 KiB of the body, and
// replaces the body by these bytes.
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

// Error returns the code with its meaning, and the most specific of the other texts.
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

// StatusOf returns the *Status in the chain of err, or nil if there is none.
func StatusOf(err error) *Status {
	status, _ := errors.AsType[*Status](err)
	return status
}

// Code returns the status code of the *Status in the chain of err, or 0 if there is none.
func Code(err error) int {
	if status := StatusOf(err); status != nil {
		return status.Code
	}
	return 0
}
