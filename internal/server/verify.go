package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/store"
)

// verifyLimit bounds the duration of a verification of the store.
const verifyLimit = 10 * time.Minute

// verify serves the result of verifying the store, one request at a time. It reads the whole file,
// and is served on the unix socket only.
func (a API) verify() http.Handler {
	return a.alone(a.Verify != nil, "verification is not available here: run driftd store verify on the daemon's host", "another verification is running", a.sendHealth)
}

func (a API) sendHealth(w http.ResponseWriter, r *http.Request) {
	if err := Supported(http.NewResponseController(w).SetWriteDeadline(time.Now().Add(verifyLimit))); err != nil {
		a.reply(w, r, nil, fmt.Errorf("limit the time of a verification: %w", err))
		return
	}
	health, err := a.Verify()
	a.reply(w, r, health, err)
}

// Verify makes the daemon verify its store, and returns the result.
func (c *Client) Verify(ctx context.Context) (health store.Health, err error) {
	err = c.do(ctx, http.MethodGet, "verify", nil, &health)
	if err == nil && health.Damages == nil {
		err = errors.New("the daemon's response lists no damages: restart the daemon, which runs an older version of driftd")
	}
	return health, err
}
