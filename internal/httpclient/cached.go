package httpclient

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/printable"
)

// cached returns the response header which shows that the response is a copy from a cache, such as
// "Age: 120" (RFC 9111, RFC 9211); "" if none does.
func cached(h http.Header) string {
	age := strings.TrimSpace(h.Get("Age"))
	if seconds, err := strconv.ParseInt(age, 10, 64); err == nil && seconds > 0 {
		return "Age: " + age
	}
	for _, name := range []string{"X-Cache", "X-Cache-Status", "X-Proxy-Cache", "CF-Cache-Status"} {
		if value := h.Get(name); strings.HasPrefix(strings.ToUpper(strings.TrimSpace(value)), "HIT") {
			return name + ": " + printable.Text(value)
		}
	}
	for _, value := range h.Values("Cache-Status") {
		for _, member := range strings.Split(value, ",") {
			for _, parameter := range strings.Split(member, ";")[1:] {
				if strings.TrimSpace(parameter) == "hit" {
					return "Cache-Status: " + printable.Text(strings.TrimSpace(member))
				}
			}
		}
	}
	return ""
}
