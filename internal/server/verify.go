package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/store"
)

// verifyLimit bounds how long a verification of the store may take.
const verifyLimit = 10 * time.Minute

// verify serves what a verification of the store finds, one at a time. It reads the
// whole file, and is for the unix socket alone.
func (a API) verify() http.Handler {
	return a.alone(a.Verify != nil, "there is nothing to verify here: run driftd store verify on the host of the daemon", "the store is being verified already", a.sendHealth)
}

func (a API) sendHealth(w http.ResponseWriter, r *http.Request) {
	if err := Supported(http.NewResponseController(w).SetWriteDeadline(time.Now().Add(verifyLimit))); err != nil {
		a.reply(w, r, nil, fmt.Errorf("limit the time of a verification: %w", err))
		return
	}
	health, err := a.Verify()
	a.reply(w, r, health, err)
}

// Verify lets the daemon verify its store.
func (c *Client) Verify(ctx context.Context) (health store.Health, err error) {
	err = c.do(ctx, http.MethodGet, "verify", nil, &health)
	if err == nil && health.Damages == nil {
		err = errors.New("the daemon does not say what is damaged: restart it, it is an older driftd")
	}
	return health, err
}
