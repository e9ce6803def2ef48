package access

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/clocktest"
)

// TestSessionWhenTheClockJumps checks that changes of the wall clock do not change the lifetime
// of a session.
func TestSessionWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, jump := range map[string]time.Duration{"none": 0, "a day ahead": day, "a day back": -day, "a year ahead": 365 * day, "a year back": -365 * day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clocktest.New(time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC))
			h := withUsers(t, Options{Now: clock.Now, Session: 8 * time.Hour, Roles: Roles{Operator: []string{"alice"}}})
			c := named(t, h.login(get(), "alice", "open sesame"), sessionCookie)
			clock.Jump(jump)
			clock.Advance(8*time.Hour - time.Minute)
			if got, _ := h.who(get(c), false); got.Name != "alice" {
				t.Errorf("visitor in time = %+v, want alice", got)
			}
			clock.Jump(-jump)
			clock.Advance(2 * time.Minute)
			if got, _ := h.who(get(c), false); got != (Visitor{}) {
				t.Errorf("visitor after the end = %+v, want none", got)
			}
		})
	}
}
