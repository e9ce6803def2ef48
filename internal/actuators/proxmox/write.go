package proxmox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// A change is a change of one resource that is planned and not made.
type change struct {
	actuator *Actuator
	key      model.Key
	before   *resource
	// edits are those of options, and grows those of the sizes of disks.
	edits, grows []edit
	// attaches are the volumes that the requests attach.
	attaches []string
	requests []request
	plan     reconcile.Plan
}

// A request is one of those that make a change.
type request struct {
	path string
	// form are the parameters without the digest.
	form url.Values
	// task reports whether it starts a task, whose end shows what came of it.
	task bool
	// text describes the request, and after is the resource after it, for the next one.
	text  string
	after model.Value
}

// Plan implements reconcile.Change.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because Proxmox VE has no dry run; the plan
// applied the edits to a copy of the configuration.
func (c *change) Rehearse(context.Context) error { return nil }

// form returns the parameters of the request that changes options, without the digest.
func (c *change) form() url.Values {
	form := url.Values{}
	maps.Copy(form, c.before.also)
	if c.before.whole {
		for _, row := range c.before.rows {
			if option := row.At("key").Str(); option != "name" && option != "ipversion" {
				form.Set(option, row.At("value").Text())
			}
		}
	}
	var deleted []string
	for _, e := range c.edits {
		switch {
		case !e.deletes:
			form.Set(e.option, e.text)
		case c.before.whole:
			form.Del(e.option)
		case c.before.empties:
			form.Set(e.option, "")
		default:
			deleted = append(deleted, e.option)
		}
	}
	if len(deleted) > 0 {
		form.Set("delete", strings.Join(deleted, ","))
	}
	return form
}

// Write implements reconcile.Change. After an error that does not prove that nothing was written, it reads
// the resource again to determine the result.
func (c *change) Write(ctx context.Context) (receipt reconcile.Receipt, err error) {
	a := c.actuator
	if err := c.again(ctx); err != nil {
		return reconcile.Receipt{}, err
	}
	receipt.Status = http.StatusOK
	connected := a.with(ctx, a.writing(), func(s *pveapi.Session) error {
		err = c.send(ctx, s, &receipt)
		return nil
	})
	if connected != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: connected}
	}
	receipt.At = a.options.Now()
	return receipt, err
}

// send sends the requests. Between two of them the resource is read: the next one is sent only if the resource is as planned, with the
// digest of what was read.
func (c *change) send(ctx context.Context, s *pveapi.Session, receipt *reconcile.Receipt) error {
	digest := c.before.digest
	for i := range c.requests {
		if i > 0 {
			now, err := c.actuator.read(ctx, c.key, nodeOf(c.plan.System))
			if err != nil {
				return fmt.Errorf("after request %d of %d, the guest could not be read again: %v", i, len(c.requests), err) //nolint:errorlint // A refusal would mean that nothing was sent.
			}
			if before := &c.requests[i-1]; len(now.waiting()) > 0 || !diff.Equal(c.actuator.kinds[now.kind].Schema, now.value, before.after) {
				receipt.Unexpected = []string{fmt.Sprintf("after request %d of %d (%s) the guest is not as planned: something else changed it", i, len(c.requests), before.text)}
				return nil
			}
			digest = now.digest
		}
		if failed := c.sendOne(ctx, s, &c.requests[i], digest); failed != nil {
			return c.failed(ctx, failed, i, receipt)
		}
	}
	return nil
}

func (c *change) sendOne(ctx context.Context, s *pveapi.Session, r *request, digest string) error {
	form := maps.Clone(r.form)
	if c.before.guarded {
		form.Set("digest", digest)
	}
	answer, err := s.Write(ctx, http.MethodPut, r.path, form)
	if err != nil || !r.task {
		return err
	}
	return follow(ctx, s, nodeOf(c.plan.System), answer)
}

// failed returns the error of Write after a request failed; nil if something was written.
func (c *change) failed(ctx context.Context, failed error, at int, receipt *reconcile.Receipt) error {
	a, access := c.actuator, c.actuator.writing()
	task := (*taskError)(nil)
	if !errors.As(failed, &task) {
		receipt.Status = httpclient.Code(failed)
	}
	if task == nil && !isAnswer(failed) {
		return access.Explain(failed, "")
	}
	if at > 0 {
		receipt.Unexpected = []string{fmt.Sprintf("Proxmox VE answered %v to request %d of %d (%s): what was done before is left", failed, at+1, len(c.requests), c.requests[at].text)}
		return nil
	}
	if refused(failed, access.Name()) != "" {
		return &reconcile.NotWrittenError{Err: a.explainWrite(failed)}
	}
	after, err := a.find(ctx, c.key, nodeOf(c.plan.System))
	if err != nil {
		// A node that lost its quorum is no refusal any more: the request was sent.
		return fmt.Errorf("%w; and it could not be read again: %v", access.Explain(failed, ""), err) //nolint:errorlint // as above
	}
	written := c.written(after)
	switch {
	case len(written) == 0 && task == nil:
		return &reconcile.NotWrittenError{Err: a.explainWrite(failed)}
	case len(written) == 0: // the volume grows before its size is written
		receipt.Unexpected = []string{fmt.Sprintf("%v: the size in the configuration is as it was, and the volume may be larger (qm disk rescan --dryrun 1 --vmid %s)", failed, c.key.ID)}
	default:
		receipt.Unexpected = []string{fmt.Sprintf("Proxmox VE answered %v, and wrote %s: it may use neither the old nor the new value", failed, strings.Join(written, ", "))}
	}
	return nil
}

// again reads again what Proxmox VE compares with no digest: an object without one, and whether another guest has a volume. It compares
// that with what was planned for.
func (c *change) again(ctx context.Context) error {
	if err := c.actuator.checkUsers(ctx, c.attaches); err != nil {
		return unsent(err)
	}
	if c.before.guarded {
		return nil
	}
	now, err := c.actuator.read(ctx, c.key, "")
	if errors.Is(err, errGone) || err == nil && !now.value.Equal(c.before.value) {
		return refuse(guardStillSo, "it was changed since it was read: look again")
	}
	if err != nil {
		return unsent(err)
	}
	return nil
}

// unsent returns the error of a read before any request was sent.
func unsent(err error) error {
	if refusal := (*reconcile.Refusal)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return &reconcile.NotWrittenError{Err: err}
}

// explainWrite adds the next step to the error of a write.
func (a *Actuator) explainWrite(err error) error {
	access := a.writing()
	if next := refused(err, access.Name()); next != "" {
		return &httpclient.Error{Server: access.URL, Err: err, Hint: next, Writing: true}
	}
	return access.Explain(err, "")
}

// isAnswer reports whether an error is an answer of Proxmox VE itself, and not one of something on the way.
func isAnswer(err error) bool {
	switch httpclient.Code(err) {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError:
		return true
	}
	return false
}

// refused returns the next step after an answer, or after a task, after which nothing was written for sure; "" after another one. Proxmox
// VE checks all privileges, the lock and the digest first. Another's edit must not be taken for what a refused request wrote.
func refused(err error, account string) string {
	message, role := "", "give "+account+" a role with that privilege"
	if task := (*taskError)(nil); errors.As(err, &task) {
		message = task.exit
	} else if status := httpclient.StatusOf(err); status != nil {
		message = status.Message
	}
	switch httpclient.Code(err) {
	case http.StatusUnauthorized:
		return account + " is refused: check its secret and expiry (pveum user token list USER)"
	case http.StatusForbidden:
		return role
	}
	for _, r := range []struct{ message, next string }{
		{"is locked", "wait until that is over, and look again"},
		{"checksum mismatch", fileChanged}, {"detected modified configuration", fileChanged},
		{"Permission check failed", role},
		{"shrinking disks is not supported", "the volume is larger than its size in the configuration: qm disk rescan shows it"},
		{"can't resize this image format", "the storage cannot do it"},
		{"resizing a snapshot is not supported", "the storage cannot do it"},
	} {
		if strings.Contains(message, r.message) {
			return r.next
		}
	}
	return ""
}

const fileChanged = "the file was changed since it was read: look again"

// written returns the fields of the plan that another value has been written to.
func (c *change) written(after *resource) (paths []string) {
	for i := range c.plan.Changes {
		path := c.plan.Changes[i].Path
		was, _ := jsonpatch.Find(c.before.value, path)
		is, _ := jsonpatch.Find(after.value, path)
		if !model.SameValue(was, is) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Inspect implements reconcile.Actuator.
func (a *Actuator) Inspect(ctx context.Context, key model.Key, p reconcile.Plan) (reconcile.Inspection, error) {
	switch {
	case isList(key.Kind):
		return a.inspectList(ctx, key, &p)
	case isGrant(key.Kind):
		return a.inspectGrant(ctx, key, &p)
	}
	g, err := a.find(ctx, key, nodeOf(p.System))
	if err != nil {
		return asGone(err)
	}
	if g.cluster != clusterOf(p.System) {
		return "", a.otherCluster(g.cluster)
	}
	if g.uid() != p.UID {
		return reconcile.AsOther, nil
	}
	inspection := putback.Inspect(a.kinds[g.kind].Schema, g.value, &p)
	if inspection == reconcile.AsWanted {
		if waits(g, p.Changes) {
			return reconcile.AsWaiting, nil
		}
		return inspection, nil
	}
	return inspection, a.isGrowing(ctx, g, &p)
}

// asGone returns the inspection of a resource that could not be read.
func asGone(err error) (reconcile.Inspection, error) {
	if errors.Is(err, errGone) {
		return reconcile.AsOther, nil
	}
	return "", err
}

func (a *Actuator) otherCluster(name string) error {
	return fmt.Errorf("%s leads to another cluster now: %s", a.options.Reading.URL, name)
}

func clusterOf(system string) string {
	name, _, _ := strings.Cut(system, "/nodes/")
	return name
}

// waits reports whether a field of some changes waits for a restart.
func waits(g *resource, changes []reconcile.FieldChange) bool {
	for _, option := range g.waiting() {
		for i := range changes {
			if diff.Touches([]string{option}, changes[i].Path) {
				return true
			}
		}
	}
	return false
}

// HandBack implements reconcile.Actuator. It does nothing, because fields in Proxmox VE have no owners.
func (a *Actuator) HandBack(context.Context, model.Key, reconcile.Plan) error { return nil }
