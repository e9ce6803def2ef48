package kubernetes

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors/kubernetes/audit"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxRefresh bounds how long a snapshot waits for new lines of the audit log.
const maxRefresh = time.Second

// newAudit returns the audit log according to the settings, or nil if they contain none.
func (c *cluster) newAudit() *audit.Log {
	if c.config.AuditLog == "" && c.config.AuditWebhook == nil {
		return nil
	}
	o := audit.Options{Path: c.config.AuditLog, Keep: c.config.AuditSince, Log: c.env.Log,
		Now: func() time.Time { return c.now() },
		Wanted: func(r audit.Resource) bool {
			noisy := noisyKind(r)
			return noisy == "" || !c.config.excludes(noisy)
		}}
	if hook := c.config.AuditWebhook; hook != nil {
		o.Token = func() (string, error) { return credential.Read(hook.TokenFile) }
	}
	return audit.New(o)
}

// withWriterUnknown returns copies of the kinds with the reason why the user who deleted an
// object or removed a field may be unknown.
func withWriterUnknown(kinds map[string]*model.Kind, reason string) map[string]*model.Kind {
	all := make(map[string]*model.Kind, len(kinds))
	for name, kind := range kinds {
		copied := *kind
		copied.WriterUnknown = reason
		all[name] = &copied
	}
	return all
}

// writerUnknown returns the reason why the user who deleted an object or removed a field
// may be unknown. managedFields only record who set a field.
func (c *cluster) writerUnknown() string {
	if c.audit == nil {
		return "managedFields do not record deletions; to find their users, set audit_log or audit_webhook (docs/kubernetes.md)"
	}
	since := c.config.AuditSince.String()
	switch err := c.audit.Fault(); {
	case err != nil:
		return "managedFields do not record deletions, and the audit log could not be read: " + err.Error()
	case c.config.AuditLog == "":
		return "the audit webhook sent no event of the deletion: it was more than " + since + " ago (audit_since), before driftd was started, or the audit policy omits it"
	}
	return "the audit log has no event of the deletion: it was more than " + since + " ago (audit_since), or the audit policy omits it"
}

// noisyKind returns the name of a kind whose objects are written continuously and that
// exclude_kinds usually excludes; "" for other kinds.
func noisyKind(r audit.Resource) string {
	switch r {
	case audit.Resource{Name: "events"}:
		return kube.KindName("v1", "Event")
	case audit.Resource{Group: "events.k8s.io", Name: "events"}:
		return kube.KindName("events.k8s.io/v1", "Event")
	case audit.Resource{Name: "endpoints"}:
		return kube.KindName("v1", "Endpoints")
	case audit.Resource{Group: "discovery.k8s.io", Name: "endpointslices"}:
		return kube.KindName("discovery.k8s.io/v1", "EndpointSlice")
	case audit.Resource{Group: "coordination.k8s.io", Name: "leases"}:
		return kube.KindName("coordination.k8s.io/v1", "Lease")
	}
	return ""
}

// Hook implements collectors.Listener. It returns the handler of the API server's audit webhook, or
// nil if the settings do not enable it.
func (c *cluster) Hook() http.Handler {
	if c.audit == nil {
		return nil
	}
	return c.audit.Hook()
}

// refreshAudit reads new lines of the audit log, for at most the given time.
func (c *cluster) refreshAudit(ctx context.Context, within time.Duration) {
	if c.audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c.audit.Refresh(ctx)
}

// isByPerson reports whether a person created an object. Controllers create objects with
// their own service accounts, without impersonation.
func isByPerson(t model.AuditEvent) bool {
	byController := t.Actor.Name == "system:kube-controller-manager" || strings.HasPrefix(t.Actor.Name, "system:serviceaccount:")
	return t.Action == model.Created && (!byController || strings.Contains(t.Actor.Name, " (by "))
}

// withAuditEvents returns the snapshot with the audit events and users that the audit log contains
// at present. Later events are added to later snapshots.
func (c *cluster) withAuditEvents(ctx context.Context, s model.Snapshot, k *catalog) model.Snapshot {
	c.refreshAudit(ctx, maxRefresh)
	s.Kinds = withWriterUnknown(s.Kinds, c.writerUnknown())
	if c.audit == nil {
		return s
	}
	kinds := make(map[audit.Resource]api, len(k.apis))
	for _, a := range k.apis {
		kinds[audit.Resource{Group: a.group, Name: a.resource}] = a
	}
	live := make(map[model.Ref]*model.Resource, len(s.Resources))
	for i := range s.Resources {
		r := &s.Resources[i]
		live[model.Ref{Kind: r.Kind, ID: r.ID}] = r
	}
	c.audit.Each(func(o audit.Object, h audit.History) {
		a, served := kinds[o.Resource]
		if !served || a.namespaced != (o.Namespace != "") {
			return
		}
		ref := model.Ref{Kind: a.kind, ID: o.ID()}
		r := live[ref]
		if r == nil {
			s.AuditEvents = append(s.AuditEvents, audit.Events(ref, h.Writes, false, time.Time{})...)
			return
		}
		r.Owners = audit.AddUsers(r.Owners, h, r.Created)
		events := audit.Events(ref, h.Writes, true, r.Created)
		if slices.ContainsFunc(events, isByPerson) {
			r.Makers = nil
		}
		s.AuditEvents = append(s.AuditEvents, events...)
	})
	slices.SortFunc(s.AuditEvents, audit.CompareEvents)
	return s
}
