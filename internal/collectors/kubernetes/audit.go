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

// maxRefresh is how long a snapshot waits for what was added to the audit log.
const maxRefresh = time.Second

// newAudit returns what the settings say of an audit log; nil when they say
// nothing.
func (c *cluster) newAudit() *audit.Log {
	if c.config.AuditLog == "" && c.config.AuditWebhook == nil {
		return nil
	}
	o := audit.Options{Path: c.config.AuditLog, Keep: c.config.AuditSince, Log: c.env.Log,
		Now: func() time.Time { return c.now() },
		Wanted: func(r audit.Resource) bool {
			busy := busyKind(r)
			return busy == "" || !c.config.excludes(busy)
		}}
	if hook := c.config.AuditWebhook; hook != nil {
		o.Token = func() (string, error) { return credential.Read(hook.TokenFile) }
	}
	return audit.New(o)
}

// withReason returns the kinds with why nobody may be known to have deleted an
// object, or removed a field.
func withReason(kinds map[string]*model.Kind, reason string) map[string]*model.Kind {
	all := make(map[string]*model.Kind, len(kinds))
	for name, kind := range kinds {
		signed := *kind
		signed.WriterUnknown = reason
		all[name] = &signed
	}
	return all
}

// unsigned says why managedFields alone do not tell who removed something, or why
// the audit log may not.
func (c *cluster) unsigned() string {
	if c.audit == nil {
		return "managedFields do not tell who removed something; an audit log does: set audit_log or audit_webhook (docs/kubernetes.md)"
	}
	since := c.config.AuditSince.String()
	switch err := c.audit.Fault(); {
	case err != nil:
		return "managedFields do not tell who removed something, and the audit log was not read: " + err.Error()
	case c.config.AuditLog == "":
		return "the audit webhook told of nobody who removed it: it was more than " + since + " ago (audit_since), before driftd was started, or the policy leaves it out"
	}
	return "the audit log tells of nobody who removed it: it was more than " + since + " ago (audit_since), or the policy leaves it out"
}

// busyKind names the kind of a resource that is written all the time, and that
// is left out unless somebody asks for it; "" when it is none.
func busyKind(r audit.Resource) string {
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

// Hook returns what takes events from the API server's audit webhook; nil when
// the settings do not speak of one.
func (c *cluster) Hook() http.Handler {
	if c.audit == nil {
		return nil
	}
	return c.audit.Hook()
}

// refreshAudit reads what was added to the audit log.
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

// signed says in a snapshot who wrote what, as far as the audit log knows by
// now. What the log tells later stands in a later snapshot.
func (c *cluster) signed(ctx context.Context, s model.Snapshot, k *catalog) model.Snapshot {
	c.refreshAudit(ctx, maxRefresh)
	s.Kinds = withReason(s.Kinds, c.unsigned())
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
	c.audit.Each(func(o audit.Object, writes []audit.Write) {
		a, served := kinds[o.Resource]
		if !served || a.namespaced != (o.Namespace != "") {
			return
		}
		ref := model.Ref{Kind: a.kind, ID: o.ID()}
		r := live[ref]
		if r == nil {
			s.AuditEvents = append(s.AuditEvents, audit.Events(ref, writes, false, time.Time{})...)
			return
		}
		r.Owners = audit.AddUsers(r.Owners, writes, r.Created)
		events := audit.Events(ref, writes, true, r.Created)
		if slices.ContainsFunc(events, isByPerson) {
			r.Makers = nil
		}
		s.AuditEvents = append(s.AuditEvents, events...)
	})
	slices.SortFunc(s.AuditEvents, audit.CompareEvents)
	return s
}
