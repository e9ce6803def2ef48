// Package proxmox puts the configuration of guests of a Proxmox VE cluster, their firewalls, and objects of
// the cluster back to their declared state.
//
// It changes an object with one request, which contains the digest of the configuration that was read:
// Proxmox VE rejects the request if the configuration has changed. Growing a disk requires a separate
// request. Objects without a digest are read again immediately before. Lists of rules and of entries
// require several requests, between which the list is read. Before a request is sent, the change is applied
// to a copy of the configuration: the guest must then have the declared values in the form of the
// declaration, and no other differences.
//
// The response of Proxmox VE does not show the result: a successful change may be pending until a restart,
// and a failed one may have been written. Therefore the guest is read again after each write.
//
// The package does not write to a node without quorum, to a locked guest, or to a guest with pending
// changes, which would take effect, too. It never moves, creates or deletes guests, shrinks disks, or
// removes or adds devices, except that it attaches detached disks again.
package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// Options configure an Actuator.
type Options struct {
	// Reading is the access of the source, which reads guests. Writing is the access with the account that
	// writes to the same cluster.
	Reading pveapi.Access
	Writing pveapi.Account
	// Timeout is the maximum duration of each request; 0 means 30 seconds.
	Timeout time.Duration
	// Sealer must be that of the source's collector. It must not be nil.
	Sealer model.Sealer
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// An Actuator implements reconcile.Deleter for a cluster. It is safe for concurrent use.
type Actuator struct {
	options    Options
	normalizer *normalize.Normalizer
	kinds      map[string]*model.Kind
}

var _ reconcile.Deleter = (*Actuator)(nil)

// New returns an Actuator. It returns an error if the options are invalid. It does not use the network.
func New(o Options) (*Actuator, error) {
	reading, err := o.Reading.Complete()
	if err != nil {
		return nil, err
	}
	if err := o.Writing.Check(); err != nil {
		return nil, err
	}
	o.Reading = reading
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Actuator{options: o, normalizer: normalize.New(o.Sealer), kinds: normalize.Kinds()}, nil
}

// Limit implements reconcile.Actuator. Proxmox VE itself aborts a request after 30 seconds.
func (a *Actuator) Limit() time.Duration { return a.options.Timeout + 30*time.Second }

// writing returns the access of the account that writes.
func (a *Actuator) writing() pveapi.Access {
	access := a.options.Reading
	access.Account = a.options.Writing
	return access
}

// with calls do with a session.
func (a *Actuator) with(ctx context.Context, access pveapi.Access, do func(*pveapi.Session) error) error {
	limits := httpclient.Limits{Concurrency: 1, Timeout: a.options.Timeout, MaxBody: maxBody, Backoff: backoff}
	session, err := pveapi.Connect(ctx, access, limits)
	if err != nil {
		return access.Explain(err, "")
	}
	defer session.Close()
	return do(session)
}

const (
	maxBody = 16 << 20 // a list of 50,000 guests
	backoff = 500 * time.Millisecond
)

// The guards of this package.
const (
	guardKind    = "kind"
	guardStillSo = "still-so"
	guardScope   = "scope"
	guardQuorum  = "quorum"
	guardRights  = "rights"
)

func refuse(guard, format string, args ...any) error {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}

// permissions returns the privileges of the account that writes on a path.
func (a *Actuator) permissions(ctx context.Context, path string) (held map[string]bool, err error) {
	access := a.writing()
	err = a.with(ctx, access, func(s *pveapi.Session) error {
		answer, err := s.Get(ctx, "/access/permissions?path="+url.QueryEscape(path))
		if err != nil {
			return access.Explain(err, "")
		}
		held = map[string]bool{}
		for _, f := range answer.At(path).Fields() {
			held[f.Name] = true
		}
		return nil
	})
	return held, err
}
