// Command compact makes the schema file that package kube carries, from the
// OpenAPI v3 documents of a plain API server: it keeps what comparing needs
// and drops the prose.
//
//	kubectl get --raw /openapi/v3/apis/apps/v1 > docs/apps.v1.json   # and so on
//	go run ./internal/kube/compact docs internal/kube/openapi.json.gz
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: compact DOCUMENTS OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "compact:", err)
		os.Exit(1)
	}
}

type document struct {
	Paths      map[string]map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

func run(folder, output string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	merged := document{Paths: map[string]map[string]any{}}
	merged.Components.Schemas = map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var d document
		if err := json.Unmarshal(data, &d); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for path, operations := range d.Paths {
			if op, ok := operations["post"].(map[string]any); ok && !strings.HasSuffix(path, "}") {
				merged.Paths[path] = map[string]any{"post": map[string]any{gvk: op[gvk]}}
			}
		}
		for name, schema := range d.Components.Schemas {
			merged.Components.Schemas[name] = strip(schema)
		}
	}
	return write(output, merged)
}

const gvk = "x-kubernetes-group-version-kind"

var kept = []string{"type", "format", "items", "properties", "additionalProperties", "$ref", "allOf", "default",
	"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
	"x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string", gvk}

func strip(schema any) any {
	node, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	out := map[string]any{}
	for key, value := range node {
		switch {
		case !slices.Contains(kept, key):
		case key == "properties":
			properties := map[string]any{}
			for name, p := range value.(map[string]any) {
				properties[name] = strip(p)
			}
			out[key] = properties
		case key == "items" || key == "additionalProperties":
			out[key] = strip(value)
		case key == "allOf":
			list := []any{}
			for _, part := range value.([]any) {
				list = append(list, strip(part))
			}
			out[key] = list
		default:
			out[key] = value
		}
	}
	return out
}

// write makes the same bytes for the same documents.
func write(output string, d document) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(output, b.Bytes(), 0o644)
}
