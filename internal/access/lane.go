package access

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// rememberBrowser is how long a browser is known in which somebody has logged in.
const rememberBrowser = 90 * 24 * time.Hour

// A lane is a way to the comparison of passwords, with bounds of its own. A
// flood of logins fills its own lane: who has logged in before with the same
// browser goes beside it.
type lane struct {
	// name is what failures are counted by.
	name string
	queue
}

// publicLane is that of the network from which a request comes.
func (g *Gate) publicLane(r *http.Request) lane { return lane{g.client(r).String(), g.hashing} }

// laneOf is that of the browser, where this user has logged in with it before.
func (g *Gate) laneOf(r *http.Request, name string) lane {
	text, _ := g.cookie(r, knownCookie)
	id, sum, _ := strings.Cut(text, ".")
	got, err := base64.RawURLEncoding.DecodeString(sum)
	if want := g.mac("known", id, name); err == nil && hmac.Equal(got, want[:]) {
		return lane{"known " + id, g.hashingKnown}
	}
	return g.publicLane(r)
}

// setKnown lets the browser be known in which a user has logged in.
func (g *Gate) setKnown(w http.ResponseWriter, r *http.Request, name string) {
	id := rand.Text()
	mac := g.mac("known", id, name)
	g.setCookie(w, r, knownCookie, id+"."+base64.RawURLEncoding.EncodeToString(mac[:]), rememberBrowser)
}

// enter takes one try, and waits for a turn in a lane: whoever succeeds gives the
// try back. The try comes first: a network that floods has no more places in the
// queue than it has tries, and others find theirs. What finds none is refused.
func (g *Gate) enter(r *http.Request, l lane) (leave func(), refused *Refused) {
	if wait := g.failures.take(l.name, g.options.Now()); wait > 0 {
		return nil, tooMany(wait)
	}
	if !l.queue.enter(r.Context()) {
		g.failures.give(l.name, g.options.Now())
		return nil, &Refused{Status: http.StatusTooManyRequests, RetryAfter: 2 * time.Second,
			Message: "too many log in at this moment", Hint: "it passes by itself"}
	}
	return l.leave, nil
}

func tooMany(wait time.Duration) *Refused {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return &Refused{Status: http.StatusTooManyRequests, RetryAfter: wait,
		Message: "too many logins from your network failed, or wait for their turn", Hint: "after a short while the right password opens again"}
}
