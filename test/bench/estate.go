package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/driftd/driftd/test/kubetest"
)

// An estate has the number of objects of each kind.
type estate struct{ deployments, configMaps int }

func (e estate) String() string {
	return fmt.Sprintf("%d Deployments, %d ConfigMaps", e.deployments, e.configMaps)
}

// An object is a manifest and the URL path that it is applied to.
type object struct{ path, manifest string }

// apply writes the estate's manifests into a folder and applies them to the cluster like
// kubectl apply --server-side, only faster.
func (e estate) apply(ctx context.Context, c *kubetest.Cluster, dir, namespace string) error {
	objects := e.objects(namespace)
	if err := writeManifests(dir, objects); err != nil {
		return err
	}
	a := applier{client: c.Client(), url: c.URL()}
	defer a.client.CloseIdleConnections()
	if err := a.apply(ctx, object{"/api/v1/namespaces/" + namespace,
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + "}\n"}); err != nil {
		return err
	}
	return a.applyAll(ctx, objects)
}

func (e estate) objects(namespace string) []object {
	objects := make([]object, 0, e.deployments+e.configMaps)
	for n := range e.deployments {
		name := fmt.Sprintf("web-%05d", n)
		objects = append(objects, object{"/apis/apps/v1/namespaces/" + namespace + "/deployments/" + name,
			fmt.Sprintf(deployment, name, namespace, n)})
	}
	for n := range e.configMaps {
		name := fmt.Sprintf("config-%05d", n)
		objects = append(objects, object{"/api/v1/namespaces/" + namespace + "/configmaps/" + name,
			fmt.Sprintf(configMap, name, namespace, n)})
	}
	return objects
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {app.kubernetes.io/name: %[1]s, app.kubernetes.io/part-of: bench}
spec:
  replicas: 2
  selector:
    matchLabels: {app: %[1]s}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      containers:
      - name: web
        image: registry.example.org/web:1.%[3]d
        args: ["--listen", ":8080"]
        ports:
        - {name: http, containerPort: 8080}
        - {name: metrics, containerPort: 9090}
        env:
        - {name: ZONE, value: a}
        - {name: NUMBER, value: "%[3]d"}
        - name: POD_IP
          valueFrom: {fieldRef: {fieldPath: status.podIP}}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {cpu: 1000m, memory: 1Gi}
        readinessProbe:
          httpGet: {path: /readyz, port: http}
        volumeMounts:
        - {name: config, mountPath: /etc/web}
      volumes:
      - name: config
        configMap: {name: config-%05[3]d}
`

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {app.kubernetes.io/part-of: bench}
data:
  number: "%[3]d"
  app.properties: |
    color=blue
    size=large
    endpoint=https://%[1]s.example.org/api/v1
    timeout=30s
  feature: "on"
`

// writeManifests writes a hundred objects into each file.
func writeManifests(dir string, objects []object) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make manifests folder: %w", err)
	}
	for n := 0; len(objects) > 0; n++ {
		part := objects[:min(100, len(objects))]
		objects = objects[len(part):]
		manifests := make([]string, 0, len(part))
		for _, o := range part {
			manifests = append(manifests, o.manifest)
		}
		file := filepath.Join(dir, fmt.Sprintf("part-%03d.yaml", n))
		if err := os.WriteFile(file, []byte(strings.Join(manifests, "---\n")), 0o600); err != nil {
			return fmt.Errorf("write manifests: %w", err)
		}
	}
	return nil
}

// An applier applies objects over HTTP.
type applier struct {
	client *http.Client
	url    string
}

// applyAll applies many objects concurrently, and returns the first error.
func (a applier) applyAll(ctx context.Context, objects []object) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan object)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for o := range queue {
				if err := a.apply(ctx, o); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, o := range objects {
		queue <- o
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

func (a applier) apply(ctx context.Context, o object) error { return a.applyAs(ctx, o, "kubectl") }

// applyAs applies an object as a field manager.
func (a applier) applyAs(ctx context.Context, o object, manager string) error {
	url := a.url + o.path + "?fieldManager=" + manager + "&force=true"
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, bytes.NewReader([]byte(o.manifest)))
	if err != nil {
		return fmt.Errorf("apply %s: %w", o.path, err)
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("apply %s: %w", o.path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return errors.Join(fmt.Errorf("apply %s: %s: %.1000s", o.path, resp.Status, body), err)
	}
	return nil
}
