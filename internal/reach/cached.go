package reach

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// Cached returns the header by which a cache on the way says that an answer is its
// own copy, such as "Age: 120"; "" where the server itself answered, as far as the
// headers show (RFC 9111, RFC 9211).
func Cached(h http.Header) string {
	age := strings.TrimSpace(h.Get("Age"))
	if seconds, err := strconv.ParseInt(age, 10, 64); err == nil && seconds > 0 {
		return "Age: " + age
	}
	for _, name := range []string{"X-Cache", "X-Cache-Status", "X-Proxy-Cache", "CF-Cache-Status"} {
		if value := h.Get(name); strings.HasPrefix(strings.ToUpper(strings.TrimSpace(value)), "HIT") {
			return name + ": " + Printable(value)
		}
	}
	for _, value := range h.Values("Cache-Status") {
		for _, member := range strings.Split(value, ",") {
			for _, parameter := range strings.Split(member, ";")[1:] {
				if strings.TrimSpace(parameter) == "hit" {
					return "Cache-Status: " + Printable(strings.TrimSpace(member))
				}
			}
		}
	}
	return ""
}

// Copies keeps whether a cache answered. It is safe for concurrent use.
type Copies struct{ first atomic.Pointer[string] }

// Note takes the headers of an answer.
func (c *Copies) Note(h http.Header) {
	if mark := Cached(h); mark != "" {
		c.first.CompareAndSwap(nil, &mark)
	}
}

// Reason returns why what the server was asked for may be old, and what to do; ""
// where no cache answered.
func (c *Copies) Reason(server string) string {
	if mark := c.first.Load(); mark != nil {
		return fmt.Sprintf("a cache before %s answered from its own copy (%s): let driftd's requests pass it", server, *mark)
	}
	return ""
}

// NoCache is the Cache-Control that asks caches on the way for the server's own
// answer.
const NoCache = "no-cache"
