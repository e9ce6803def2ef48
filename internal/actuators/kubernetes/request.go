package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// mergeType is the content type of the patches that ask.
const mergeType = "application/merge-patch+json"

const (
	// followTime is how long a request is followed, and followPause the pause between two looks.
	followTime  = 20 * time.Second
	followPause = 250 * time.Millisecond
	// withdrawTime bounds withdrawing a request, and settleTime is how long it must not be shown again then.
	withdrawTime = 8 * time.Second
	settleTime   = 2 * time.Second
)

// An asker asks a tool to apply an object again.
type asker interface {
	// offer returns what the tool would do. The error is a *reconcile.Refusal if that is something else than to put the
	// object back, or nothing.
	offer(ctx context.Context, reader *client, b *base, by *applied) (offer, error)
	// request returns the merge patch of the tool's object that asks. The token identifies the request.
	request(b *base, by *applied, token string) model.Value
	// reply returns what the tool's object shows of a request. asked is the object as it was when it was asked.
	reply(b *base, asked, now *applied, token string) reply
}

// An offer is what a tool would do.
type offer struct {
	// asks describes it, and content identifies it.
	asks, content string
}

// A progress is how far a tool is with a request.
type progress int

const (
	// working is the progress of a request that the tool may be at work with.
	working progress = iota
	// pending is that of one that the tool would begin at any later time, unless it is withdrawn.
	pending
	// ended is that of one that the tool is done with.
	ended
	// gone is that of one that the tool does not show.
	gone
)

// A reply is what a tool shows of a request.
type reply struct {
	progress

	// failed is how the request ended, if not with success.
	failed string
	// withdrawal is the JSON Patch that withdraws a pending request.
	withdrawal []byte
	// why is the tool's message, which may quote the object; it may be "".
	why string
}

// A request is a change that a tool makes: driftd asks for it, and writes nothing but the request.
type request struct {
	*base

	reader *client
	by     *applied
}

// planRequest plans to ask a tool to apply an object again. If it applies all objects of its source, the plan covers the findings of
// them all.
func (a *Actuator) planRequest(ctx context.Context, reader *client, b *base, by *applied) (reconcile.Change, error) {
	r := &request{b, reader, by}
	offered, err := r.offered(ctx, by)
	if err != nil {
		return nil, err
	}
	b.plan.Asks, b.plan.Content, b.plan.Person = offered.asks, offered.content, by.person
	b.redactor.sealed = b.redactor.sealed || hasSecret(b.plan.Changes)
	if !by.whole {
		return r, nil
	}
	for _, f := range b.source.Others {
		if f.Source == b.finding.Source && by.has(by.object, refOf(f.Key)) {
			b.plan.Also = append(b.plan.Also, reconcile.Covered{Finding: f.ID, Basis: f.Basis, Subject: f.Key})
		}
	}
	slices.SortFunc(b.plan.Also, func(a, b reconcile.Covered) int { return strings.Compare(a.Finding, b.Finding) })
	return r, nil
}

// refOf returns the ref of a key.
func refOf(key model.Key) ref {
	kind, group, _ := strings.Cut(strings.TrimPrefix(key.Kind, "kubernetes/"), ".")
	namespace, name, ok := strings.Cut(key.ID, "/")
	if !ok {
		namespace, name = "", key.ID
	}
	return ref{group, kind, namespace, name}
}

func (r *request) offered(ctx context.Context, by *applied) (offer, error) {
	if by.object.At("metadata", "deletionTimestamp").Str() != "" {
		return offer{}, refuse(guardDeclarer, "%s is being deleted", by.title())
	}
	return by.asker.offer(ctx, r.reader, r.base, by)
}

// current reads the tool's object again. It refuses if the tool would do something else now than what is planned.
func (r *request) current(ctx context.Context) (*applied, error) {
	now, err := r.actuator.appliedNow(ctx, r.reader, r.by)
	if err != nil {
		return nil, err
	}
	offered, err := r.offered(ctx, now)
	if err != nil {
		return nil, err
	}
	if offered.content != r.plan.Content {
		return nil, refuse(guardStillSo, "%s changed since: look again", now.title())
	}
	return now, nil
}

// send sends a merge patch of the tool's object as it was read. It has no effect on another version of that.
func (r *request) send(ctx context.Context, by *applied, patch model.Value, dryRun bool) (id string, err error) {
	metadata := patch.At("metadata")
	if metadata.IsNull() {
		metadata = model.MapOf()
	}
	metadata = metadata.With("resourceVersion", by.object.At("metadata", "resourceVersion")).With("uid", model.StringOf(by.uid()))
	_, id, err = r.writer.send(ctx, http.MethodPatch, by.path(), r.writer.query(dryRun), mergeType, patch.With("metadata", metadata).AppendJSON(nil))
	return id, err
}

// maxAsks bounds the attempts of a request. Tools write their objects often, and a request for a version that is not the newest has no
// effect.
const maxAsks = 3

// ask sends the request. The error is an *unsentError if the tool, or the object, is not as in the plan.
func (r *request) ask(ctx context.Context, token string, dryRun bool) (now *applied, id string, err error) {
	for range maxAsks {
		var failed error
		now, failed = r.current(ctx)
		if !dryRun {
			failed = cmp.Or(r.stillSo(ctx), failed)
		}
		if failed != nil {
			return now, "", &unsentError{failed}
		}
		if id, err = r.send(ctx, now, now.asker.request(r.base, now, token), dryRun); httpclient.Code(err) != http.StatusConflict {
			break
		}
	}
	return now, id, err
}

// Rehearse implements reconcile.Change.
func (r *request) Rehearse(ctx context.Context) error {
	now, _, err := r.ask(ctx, r.actuator.token(), true)
	_, unsent := errors.AsType[*unsentError](err)
	switch code := httpclient.Code(err); {
	case err == nil:
		return nil
	case unsent:
	case code == http.StatusForbidden:
		return refuse(guardRights, "the credentials for writing may not ask %s: grant patch on %s in namespace %s", now.title(), now.where.fullName(), now.namespace())
	case code == http.StatusConflict:
		return refuse(guardStillSo, "%s changed since it was read: look again", now.title())
	}
	return r.public(err)
}

// token returns a text that identifies a request.
func (a *Actuator) token() string { return a.options.Now().UTC().Format(time.RFC3339Nano) }

// Write implements reconcile.Change. It sends the request to the tool and waits for the result.
func (r *request) Write(ctx context.Context) (reconcile.Receipt, error) {
	token := r.actuator.token()
	now, id, err := r.ask(ctx, token, false)
	if _, unsent := errors.AsType[*unsentError](err); unsent {
		return reconcile.Receipt{}, r.unsent(err)
	}
	receipt := reconcile.Receipt{Status: httpclient.Code(err), Request: id, At: r.actuator.options.Now()}
	if err != nil && wasNotExecuted(err) {
		return receipt, &reconcile.NotWrittenError{Err: r.public(err)}
	}
	followed := r.follow(ctx, now, token)
	if err != nil && errors.Is(followed, errGone) {
		return receipt, r.public(err) // the answer was lost, and the request may still arrive
	}
	if err == nil {
		receipt.Status = http.StatusOK
	}
	return receipt, followed
}

// errAsWanted is the error of a request for an object that is as wanted already.
var errAsWanted = errors.New("it is as declared already")

// stillSo reads the object again, and compares it with the plan.
func (r *request) stillSo(ctx context.Context) error {
	o, err := r.actuator.read(ctx, r.writer, r.subject)
	switch {
	case err != nil:
		return err
	case o == nil && r.plan.Creates:
		return nil
	case o == nil || !r.plan.Creates && o.uid() != r.plan.UID:
		return refuse(guardStillSo, "it does not exist any more, or was created again: look again")
	}
	switch r.actuator.inspection(o, r.plan) {
	case reconcile.AsBefore:
		return nil
	case reconcile.AsWanted:
		return errAsWanted
	case reconcile.AsOther, reconcile.AsWaiting:
	}
	return refuse(guardStillSo, "it was changed since it was read: look again")
}

// unsent returns the error of a read before the request.
func (r *request) unsent(err error) error {
	if refusal := (*reconcile.Refusal)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return &reconcile.NotWrittenError{Err: r.public(err)}
}

// A look is what the object and the tool show of a request.
type look struct {
	reply

	by *applied
	is reconcile.Inspection
}

// look reads the object and the tool's object.
func (r *request) look(ctx context.Context, by *applied, token string) (look, error) {
	o, err := r.actuator.read(ctx, r.writer, r.subject)
	if err != nil {
		return look{}, err
	}
	now, err := r.actuator.appliedNow(ctx, r.reader, by)
	if err != nil {
		return look{}, err
	}
	seen := look{now.asker.reply(r.base, by, now, token), now, reconcile.AsBefore}
	if o != nil {
		seen.is = r.actuator.inspection(o, r.plan)
	}
	if see := "see " + now.see(); seen.why == "" || r.redactor.sealed {
		seen.why = see
	} else {
		seen.why += ": " + see
	}
	return seen, nil
}

// isOver reports whether there is nothing to wait for. A tool that has not begun may still do so after something else put the object back.
func (l *look) isOver() bool {
	return l.progress == ended || l.progress == gone || l.is == reconcile.AsWanted && l.progress != pending
}

// errGone is the error of a request that the tool does not show.
var errGone = errors.New("the tool does not show it any more, as if another one had taken its place")

// result returns what came of a request that is over.
func (r *request) result(seen *look, token string) error {
	err := errGone
	if seen.progress != gone {
		err = errors.New("it ended as " + seen.failed)
	}
	switch err = fmt.Errorf("%s: request %s: %w: %s", seen.by.title(), token, err, seen.why); {
	case seen.is == reconcile.AsWanted, seen.progress == ended && seen.failed == "":
		return nil
	case seen.is == reconcile.AsBefore:
		return &reconcile.NotWrittenError{Err: r.public(err)}
	}
	return r.public(err)
}

// follow returns when a request is over. Otherwise it gives up after followTime, which does not cut off a read: that
// it could not be read would be reported of a request that the tool does not handle.
func (r *request) follow(ctx context.Context, by *applied, token string) error {
	over := time.After(followTime)
	for {
		if seen, err := r.look(ctx, by, token); err == nil && seen.isOver() {
			return r.result(&seen, token)
		}
		select {
		case <-time.After(followPause):
			continue
		case <-ctx.Done():
		case <-over:
		}
		return r.giveUp(context.WithoutCancel(ctx), by, token)
	}
}

// giveUp withdraws a request that the tool has not begun: otherwise it would be carried out at any later time.
func (r *request) giveUp(ctx context.Context, by *applied, token string) error {
	ctx, cancel := context.WithTimeout(ctx, withdrawTime)
	defer cancel()
	var err error
	for range maxAsks {
		var seen look
		switch seen, err = r.look(ctx, by, token); {
		case err != nil:
			return r.public(fmt.Errorf("what came of the request %s could not be read: %w", token, err))
		case seen.isOver():
			return r.result(&seen, token)
		case seen.progress == working:
			return r.public(fmt.Errorf("%s has not handled the request %s within %s: %s", by.title(), token, followTime, seen.why))
		}
		if _, _, err = r.writer.send(ctx, http.MethodPatch, by.path(), r.writer.query(false), patchType, seen.withdrawal); err == nil && r.isWithdrawn(ctx, by, token) {
			return &reconcile.NotWrittenError{Err: r.public(fmt.Errorf("%s has not handled the request %s within %s: %s; it was withdrawn", by.title(), token, followTime, seen.why))}
		}
	}
	return r.public(fmt.Errorf("%s has not handled the request %s within %s, and it could not be withdrawn: %w: see %s", by.title(), token, followTime, cmp.Or(err, errShown), by.see()))
}

// errShown is the error of a withdrawal that the tool overwrote.
var errShown = errors.New("it is shown again")

// isWithdrawn reports whether the tool does not show a request for settleTime after its withdrawal, and the object is as it was: the tool
// may have begun meanwhile.
func (r *request) isWithdrawn(ctx context.Context, by *applied, token string) bool {
	over := time.After(settleTime)
	for {
		if seen, err := r.look(ctx, by, token); err != nil || seen.progress != gone || seen.is != reconcile.AsBefore {
			return false
		}
		select {
		case <-over:
			return true
		case <-time.After(followPause):
		}
	}
}
