package access

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// rememberBrowser is how long a browser is known after a login.
const rememberBrowser = 90 * 24 * time.Hour

// A limiter limits logins by a rate bucket and a queue. Browsers from which a user has logged
// in before have their own limiter, so that a flood of logins does not lock the user out.
type limiter struct {
	// bucket is the name of the bucket in failures.
	bucket string
	queue
}

// networkLimiter returns the limiter of the network from which a request comes.
func (g *Gate) networkLimiter(r *http.Request) limiter {
	return limiter{g.client(r).String(), g.hashing}
}

// limiterOf returns the limiter of the browser if the named user has logged in from it before,
// else that of the network.
func (g *Gate) limiterOf(r *http.Request, name string) limiter {
	text, _ := g.cookie(r, knownCookie)
	id, sum, _ := strings.Cut(text, ".")
	got, err := base64.RawURLEncoding.DecodeString(sum)
	if want := g.mac("known", id, name); err == nil && hmac.Equal(got, want[:]) {
		return limiter{"known " + id, g.hashingKnown}
	}
	return g.networkLimiter(r)
}

// setKnown sets the cookie that identifies a browser from which the named user has logged in.
func (g *Gate) setKnown(w http.ResponseWriter, r *http.Request, name string) {
	id := rand.Text()
	mac := g.mac("known", id, name)
	g.setCookie(w, r, knownCookie, id+"."+base64.RawURLEncoding.EncodeToString(mac[:]), rememberBrowser)
}

// enter takes a token from the bucket of a limiter, waits in its queue and returns the function
// that leaves it. A successful login gives the token back. The token is taken first, so that
// one network cannot hold more places in the queue than it has tokens. A request that gets no
// token or no place is refused.
func (g *Gate) enter(r *http.Request, l limiter) (leave func(), refused *Refused) {
	if wait := g.failures.take(l.bucket, g.options.Now()); wait > 0 {
		return nil, tooMany(wait)
	}
	if !l.queue.enter(r.Context()) {
		g.failures.give(l.bucket, g.options.Now())
		return nil, &Refused{Status: http.StatusTooManyRequests, RetryAfter: 2 * time.Second,
			Message: "too many logins are in progress", Hint: "try again in a few seconds"}
	}
	return l.leave, nil
}

func tooMany(wait time.Duration) *Refused {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return &Refused{Status: http.StatusTooManyRequests, RetryAfter: wait,
		Message: "too many logins from your network failed or are waiting", Hint: "wait and try again"}
}
