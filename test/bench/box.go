package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxBoxed bounds the cost of building a small overlay in a process of its own, in addition to
// reading the same manifest as plain YAML.
const maxBoxed = 20 * time.Millisecond

// overlaid is the number of overlays that one scan builds.
const overlaid = 300

// measureBox compares the cost of a kustomization with that of plain manifests.
func measureBox(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	dir = filepath.Join(dir, "box")
	one, err := alternate(ctx, 4*s.runs, driftd, filepath.Join(dir, "one"), 1)
	if err != nil {
		return nil, err
	}
	many, err := alternate(ctx, s.runs, driftd, filepath.Join(dir, "many"), overlaid)
	if err != nil {
		return nil, err
	}
	each := many / overlaid
	return []result{
		judged("a small overlay, more than plain YAML", one.Round(100*time.Microsecond).String(), "under 20 ms", one < maxBoxed),
		judged(fmt.Sprintf("  each of %d", overlaid), each.Round(100*time.Microsecond).String(), "under 20 ms", each < maxBoxed),
	}, nil
}

// alternate scans folders with n manifests, plain ones and overlays in turn, and returns the
// difference of the medians.
func alternate(ctx context.Context, runs int, driftd, dir string, n int) (time.Duration, error) {
	var took [2][]time.Duration
	configs, err := writeOverlays(dir, n)
	if err != nil {
		return 0, err
	}
	for range runs {
		for i, config := range configs {
			began := time.Now()
			if out, err := exec.CommandContext(ctx, driftd, "scan", "--config", config).CombinedOutput(); err != nil {
				return 0, fmt.Errorf("scan %s: %w: %s", config, err, out)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	return took[1][runs/2] - took[0][runs/2], nil
}

// writeOverlays writes n manifests as plain files and as overlays, the live objects, and a
// configuration for each.
func writeOverlays(dir string, n int) (configs []string, err error) {
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o700)
		}
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
	}
	var live strings.Builder
	for i := range n {
		object := fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-%d", "namespace": "shop"}, "data": {"a": "b"}}`, i)
		if i > 0 {
			live.WriteByte(',')
		}
		live.WriteString(object)
		write(fmt.Sprintf("plain/%d/web.yaml", i), object)
		write(fmt.Sprintf("overlays/%d/web.yaml", i), object)
		write(fmt.Sprintf("overlays/%d/kustomization.yaml", i), "resources: [web.yaml]\nnamespace: shop\n")
	}
	write("live.json", `{"apiVersion": "v1", "kind": "List", "items": [`+live.String()+"]}")
	for _, folder := range []string{"plain", "overlays"} {
		configs = append(configs, filepath.Join(dir, folder+".yaml"))
		write(folder+".yaml", fmt.Sprintf("state_dir: %[1]s/state-%[2]s\nsources: [{name: live, type: kubernetes, settings: {dump: %[1]s/live.json, dump_complete: true}}]\n"+
			"declarations: [{name: deploy, type: manifests, governs: [live], settings: {dir: %[1]s/%[2]s}}]\n", dir, folder))
	}
	return configs, err
}
