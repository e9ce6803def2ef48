package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// systemNamespace is the namespace that exists as long as its cluster.
const systemNamespace = "kube-system"

// landmarks are the namespaces whose UIDs identify the cluster of the object. The writer may read its own
// namespace with a Role in that.
func (s *subject) landmarks() []string {
	if s.namespace == "" || s.namespace == systemNamespace {
		return []string{systemNamespace}
	}
	return []string{s.namespace, systemNamespace}
}

// system returns the UID of the first of the landmarks that the last read of the source has and the
// credentials for writing may get. Both credentials must lead to a cluster with it. Otherwise an object would be created in
// another cluster if the address or the context of a kubeconfig changed: an object that does not exist
// has no UID to compare.
func (b *base) system(ctx context.Context, reader *client) (string, error) {
	names := strings.Join(b.subject.landmarks(), " or ")
	forbidden := false
	for _, namespace := range b.subject.landmarks() {
		uid := b.source.UID(model.Ref{Kind: "kubernetes/Namespace", ID: namespace})
		if uid == "" {
			continue
		}
		now, err := b.writer.namespaceUID(ctx, namespace)
		if httpclient.Code(err) == http.StatusForbidden {
			forbidden = true
			continue
		}
		if err != nil {
			return "", err
		}
		seen := now
		if reader != b.writer {
			if seen, err = reader.namespaceUID(ctx, namespace); err != nil {
				return "", err
			}
		}
		if now != uid || seen != uid {
			return "", refuse(guardStillSo, "%s leads to another cluster than the last read of source %s, or namespace %s was created again: look again", b.writer.server(), b.finding.Source, namespace)
		}
		return uid, nil
	}
	if forbidden {
		return "", refuse(guardStillSo, "nothing shows that %s is the cluster of source %s: grant the credentials for writing get on namespace %s", b.writer.server(), b.finding.Source, names)
	}
	return "", refuse(guardStillSo, "nothing shows that %s is the cluster of source %s, because the last read of that has no namespace %s: grant the credentials for reading list on namespaces", b.writer.server(), b.finding.Source, names)
}

// checkSystem returns an error unless one of the landmarks of an object has a UID.
func (c *client) checkSystem(ctx context.Context, s *subject, uid string) error {
	var failed error
	for _, namespace := range s.landmarks() {
		now, err := c.namespaceUID(ctx, namespace)
		if err != nil {
			failed = err
			continue
		}
		if now == uid {
			return nil
		}
	}
	if failed != nil {
		return fmt.Errorf("compare the cluster with that of the plan: %w", failed)
	}
	return refuse(guardStillSo, "%s leads to another cluster than when the action was planned", c.server())
}

// namespaceUID returns the UID of a namespace; "" if there is none. Of the rights get and list one is
// enough.
func (c *client) namespaceUID(ctx context.Context, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	object, err := c.get(ctx, "/api/v1/namespaces/"+name)
	switch {
	case isMissing(err):
		return "", nil
	case httpclient.Code(err) == http.StatusForbidden:
		items, failed := c.list(ctx, "/api/v1/namespaces", url.Values{"fieldSelector": {"metadata.name=" + name}}, onlyMetadata)
		if failed != nil || len(items) != 1 {
			return "", err
		}
		object = items[0]
	case err != nil:
		return "", err
	}
	return object.At("metadata", "uid").Str(), nil
}
