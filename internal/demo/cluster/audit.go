package cluster

import (
	"encoding/json"
	"fmt"
	"time"
)

// A write is a write request to an object.
type write struct {
	verb string
	by   Writer
	at   time.Time
}

// audited writes an audit event at the level Metadata, like a kube-apiserver.
func (c *Cluster) audited(ref Ref, d write) error {
	k, _ := kindOf(ref.Kind)
	path := k.path(ref.Namespace) + "/" + ref.Name
	if d.verb != "delete" {
		path += "?fieldManager=" + d.by.Manager
	}
	code := 200
	if d.verb == "create" {
		code = 201
	}
	const layout = "2006-01-02T15:04:05.000000Z"
	object := map[string]any{"resource": k.resource, "namespace": ref.Namespace, "name": ref.Name, "apiVersion": k.version}
	if k.group != "" {
		object["apiGroup"] = k.group
	}
	line, err := json.Marshal(map[string]any{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": fmt.Sprintf("0b6d7c1e-0000-4000-8000-%012d", c.version),
		"stage": "ResponseComplete", "requestURI": path, "verb": d.verb, "user": map[string]any{"username": d.by.User},
		"sourceIPs": []string{"127.0.0.1"}, "userAgent": d.by.Agent + "/v1.36.3 (linux/amd64)", "objectRef": object,
		"responseStatus":           map[string]any{"metadata": map[string]any{}, "code": code},
		"requestReceivedTimestamp": d.at.UTC().Format(layout), "stageTimestamp": d.at.Add(4 * time.Millisecond).UTC().Format(layout),
	})
	if err != nil {
		return fmt.Errorf("encode audit event: %w", err)
	}
	if _, err := c.audit.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}
