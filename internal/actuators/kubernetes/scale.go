package kubernetes

import (
	"context"
	"errors"
	"net/http"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// autoscalers are the kinds of objects that scale another one, which spec.scaleTargetRef names.
func autoscalers() []string {
	return []string{"kubernetes/HorizontalPodAutoscaler.autoscaling", "kubernetes/ScaledObject.keda.sh"}
}

// checkReplicas refuses to change the number of replicas of an object that is scaled automatically,
// or may be.
func (a *Actuator) checkReplicas(ctx context.Context, reader *client, s *subject, o *object, f *model.Finding) *reconcile.Refusal {
	for i := range f.Changes {
		path := f.Changes[i].Path
		if by := scaledBy(o, path); by != "" {
			return refuse(guardKind, "%s was written through the subresource scale by %s, as autoscalers do: use kubectl scale", path, by)
		}
		if path != "spec.replicas" {
			continue
		}
		if f.Changes[i].Declared == nil {
			return refuse(guardKind, "nothing declares spec.replicas: without it, the API server would scale to 1")
		}
		if r := checkAutoscalers(ctx, reader, s); r != nil {
			return r
		}
	}
	return nil
}

// checkAutoscalers refuses if an autoscaler has the object as its target, or may have.
func checkAutoscalers(ctx context.Context, reader *client, s *subject) *reconcile.Refusal {
	for _, kind := range autoscalers() {
		if r := checkAutoscaler(ctx, reader, kind, s); r != nil {
			return r
		}
	}
	return nil
}

// scaledBy returns the field manager that wrote a field through the subresource scale; "" if there
// is none.
func scaledBy(o *object, path string) string {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return ""
	}
	fields := make([]model.Step, 0, len(steps))
	for i := range steps {
		if steps[i].Kind != fieldpath.Field {
			return "" // a scale is no part of a list
		}
		fields = append(fields, model.Step{Text: steps[i].Name})
	}
	for i := range o.sealed.Owners {
		if w := &o.sealed.Owners[i]; w.Through == "scale" && w.Fields.Depth(fields) == len(fields) {
			return w.Name
		}
	}
	return ""
}

func checkAutoscaler(ctx context.Context, c *client, kind string, s *subject) *reconcile.Refusal {
	where, err := c.discover(ctx, kind)
	var items []model.Value
	if err == nil {
		items, err = c.list(ctx, where.collection(s.namespace), nil, "")
	}
	if errors.Is(err, errNotServed) {
		return nil
	}
	if err != nil {
		return refuse(guardKind, "spec.replicas may be set by an autoscaler: %s", notListed(c, err, kind, where))
	}
	for _, item := range items {
		target := item.At("spec", "scaleTargetRef")
		// The kind has a default in KEDA, and the version of the API may be an old one.
		if name := target.At("kind").Str(); target.At("name").Str() == s.name && (name == s.kind || name == "") {
			return refuse(guardKind, "%s %s sets spec.replicas: change that instead", where.kind, item.At("metadata", "name").Str())
		}
	}
	return nil
}

// notListed returns why the objects of a kind could not be listed, and what to do.
func notListed(c *client, err error, kind string, where *served) string {
	if where != nil && httpclient.Code(err) == http.StatusForbidden {
		return "the credentials for reading may not list " + where.fullName() + ": grant list on them"
	}
	return "list " + kind + ": " + c.explain(err)
}

// explain returns an error with the next step.
func (c *client) explain(err error) string {
	text := kubeapi.FirstLine(err).Error()
	if httpclient.Code(err) == 0 {
		text += "; " + kubeapi.ConnectionHint(err)
	}
	return text
}
