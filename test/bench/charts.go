package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// maxAgainstHelm bounds the time of rendering and comparing charts, against helm template of the same.
const maxAgainstHelm = 2.0

// tenth is the share of the charts in a daemon.
const tenth = 10

// measureCharts compares a scan of releases with helm template of the same charts, one after another as a script runs it: driftd renders
// several at once. The program that renders is removed before the second scan, which is complete only if it renders nothing.
func measureCharts(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	helm := os.Getenv("DRIFTD_TEST_HELM_BIN")
	if helm == "" {
		return nil, errors.New("DRIFTD_TEST_HELM_BIN is not set: run the tests through make, or set it to what `sh tools/build.sh helm` prints")
	}
	r := runner{filepath.Join(dir, "charts"), s.runs}
	if err := r.writeCharts(s.charts); err != nil {
		return nil, err
	}
	template, err := r.helmTemplate(ctx, filepath.Join(helm, "helm"), s.charts)
	if err != nil {
		return nil, err
	}
	scan, err := r.process(ctx, []int{0}, driftd, "scan", "--config", r.path("driftd.yaml"))
	if err != nil {
		return nil, err
	}
	few := runner{filepath.Join(dir, "few-charts"), s.runs}
	kept := max(s.charts/tenth, 1)
	if err := few.writeCharts(kept); err != nil {
		return nil, err
	}
	again, err := few.scanAgain(ctx, driftd)
	if err != nil {
		return nil, err
	}
	ratio := scan.wall.Seconds() / template.Seconds()
	return []result{
		{what: fmt.Sprintf("helm template, %d charts one after another", s.charts), measured: template.Round(time.Millisecond).String()},
		{what: "driftd scan, the same rendered and compared", measured: fmt.Sprintf("%s, %d MB", scan.wall.Round(time.Millisecond), scan.memory/megabyte)},
		judged("  against helm template", fmt.Sprintf("%.2f times", ratio), "at most 2 times", ratio <= maxAgainstHelm),
		{what: fmt.Sprintf("the second scan of %d, 0 rendered", kept), measured: again.Round(time.Millisecond).String()},
	}, nil
}

// helmTemplate returns the time of helm template for all charts. It prints their definitions, too, because driftd compares these.
func (r runner) helmTemplate(ctx context.Context, helm string, n int) (time.Duration, error) {
	began := time.Now()
	for i := range n {
		_, err := r.process(ctx, []int{0}, helm, "template", chartName(i), r.path("charts/"+chartName(i)), "--namespace", "shop", "--include-crds", "--kube-version", "1.36.0")
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// scanAgain returns the time of the second scan of a daemon, which cannot render then.
func (r runner) scanAgain(ctx context.Context, driftd string) (took time.Duration, err error) {
	for _, name := range []string{"driftd", "driftd-helm"} {
		program, err := os.ReadFile(filepath.Join(filepath.Dir(driftd), name))
		if err != nil {
			return 0, fmt.Errorf("copy driftd: %w", err)
		}
		if err := os.WriteFile(r.path(name), program, 0o700); err != nil { //nolint:gosec // a program has to be executable
			return 0, fmt.Errorf("copy driftd: %w", err)
		}
	}
	d := &running{cmd: exec.CommandContext(ctx, r.path("driftd"), "serve", "--config", r.path("driftd.yaml")), log: &strings.Builder{}, dir: r.dir, driftd: driftd}
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		return 0, fmt.Errorf("start driftd: %w", err)
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.ready(ctx); err != nil {
		return 0, err
	}
	if err := os.Remove(r.path("driftd-helm")); err != nil {
		return 0, fmt.Errorf("remove the program that renders: %w", err)
	}
	second, err := r.process(ctx, []int{0}, driftd, "scan", "--config", r.path("driftd.yaml"))
	return second.wall, err
}

func chartName(i int) string { return fmt.Sprintf("stack%d", i) }

// The size of a chart: that of kube-prometheus-stack, with 100 templates.
const (
	dashboards  = 30
	dashboard   = 120
	alertGroups = 35
	alerting    = 25
	workers     = 35
	crds        = 5
	crdFields   = 600
)

// writeCharts writes charts, the live objects and a configuration.
func (r runner) writeCharts(n int) (err error) {
	write := func(name, text string) {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(r.path(name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(r.path(name), []byte(text), 0o600)
		}
	}
	var live strings.Builder
	for i := range n {
		folder := "charts/" + chartName(i) + "/"
		write(folder+"Chart.yaml", "apiVersion: v2\nname: "+chartName(i)+"\nversion: 1.0.0\n")
		write(folder+"values.yaml", "replicas: 2\nimage: {repository: registry.example.org/shop/web, tag: 1.2.3}\nlabels: {team: shop, tier: web}\n")
		write(folder+"templates/_helpers.tpl", `{{- define "labels" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- range $key, $value := .Values.labels }}
{{ $key }}: {{ $value | quote }}
{{- end }}
{{- end }}`)
		for _, f := range chartFiles(i) {
			write(folder+f.name, f.text)
			fmt.Fprintf(&live, ",%s", f.live)
		}
	}
	write("live.json", `{"apiVersion": "v1", "kind": "List", "items": [`+strings.TrimPrefix(live.String(), ",")+"]}")
	write("driftd.yaml", fmt.Sprintf("state_dir: %[1]s/state\nmax_memory: 16GiB\nschedule: {every: 1h}\nserver: {listen: \"\"}\nsources: [{name: live, type: kubernetes, max_memory: 8GiB, timeout: 10m, settings: {dump: %[1]s/live.json, dump_complete: true}}]\n"+
		"declarations: [{name: releases, type: helm, governs: [live], settings: {dir: \"%[1]s/charts/*\", namespace: shop}}]\n", r.dir))
	return err
}

// A chartFile is a file of a chart with the object that it makes.
type chartFile struct {
	name, text string
	live       string
}

// chartFiles returns the files of a chart with objects.
func chartFiles(i int) (files []chartFile) {
	labels := fmt.Sprintf(`"labels":{"app.kubernetes.io/instance":%q,"app.kubernetes.io/managed-by":"Helm","team":"shop","tier":"web"}`, chartName(i))
	const meta = "metadata:\n  name: {{ .Release.Name }}-%s\n  namespace: {{ .Release.Namespace }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\n"
	head := func(name string) string {
		return fmt.Sprintf(`"metadata":{"name":"%s-%s","namespace":"shop",%s}`, chartName(i), name, labels)
	}
	add := func(folder, name, kind, body, live string) {
		files = append(files, chartFile{"templates/" + folder + "/" + name + ".yaml", kind + fmt.Sprintf(meta, name) + body, live})
	}
	for n := range dashboards {
		name, text := fmt.Sprintf("dashboard-%d", n), dashboardText(n)
		add("dashboards", name, "apiVersion: v1\nkind: ConfigMap\n", "data:\n  board.json: |-\n    {{`"+strings.ReplaceAll(text, "\n", "\n    ")+"`}}\n",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap",%s,"data":{"board.json":%s}}`, head(name), quoted(text)))
	}
	for n := range alertGroups {
		name := fmt.Sprintf("rules-%d", n)
		var body, live strings.Builder
		for k := range alerting {
			fmt.Fprintf(&body, "    - alert: Alert%d\n      annotations:\n        description: '{{`{{ $labels.job }}`}} has been failing for some time, in namespace {{`{{ $labels.namespace }}`}}.'\n        runbook_url: https://runbooks.example.org/alert%d\n"+
				"      expr: |-\n        sum(rate(http_requests_total{code=~\"5..\", job=\"job%d\"}[5m])) by (namespace)\n          / sum(rate(http_requests_total[5m])) by (namespace) > 0.05\n      for: 15m\n      labels:\n        severity: warning\n", k, k, k)
			fmt.Fprintf(&live, `,{"alert":"Alert%d","annotations":{"description":"{{ $labels.job }} has been failing for some time, in namespace {{ $labels.namespace }}.","runbook_url":"https://runbooks.example.org/alert%d"},`+
				`"expr":"sum(rate(http_requests_total{code=~\"5..\", job=\"job%d\"}[5m])) by (namespace)\n  / sum(rate(http_requests_total[5m])) by (namespace) > 0.05","for":"15m","labels":{"severity":"warning"}}`, k, k, k)
		}
		// One template asks for a version of the API, so that driftd renders the chart with and without it.
		if n == 0 {
			body.WriteString("{{- if .Capabilities.APIVersions.Has \"policy.example.org/v1\" }}\n    limit: 10\n{{- end }}\n")
		}
		add("rules", name, "apiVersion: monitoring.example.org/v1\nkind: Rule\n", "spec:\n  groups:\n  - name: all\n    rules:\n"+body.String(),
			fmt.Sprintf(`{"apiVersion":"monitoring.example.org/v1","kind":"Rule",%s,"spec":{"groups":[{"name":"all","rules":[%s]}]}}`, head(name), live.String()[1:]))
	}
	for n := range workers {
		name := fmt.Sprintf("worker-%d", n)
		add("workers", name, "apiVersion: apps/v1\nkind: Deployment\n", "spec:\n  replicas: {{ .Values.replicas }}\n  selector: {matchLabels: {app: "+name+"}}\n  template:\n    metadata: {labels: {app: "+name+"}}\n    spec:\n"+
			"      containers:\n      - name: web\n        image: \"{{ .Values.image.repository }}:{{ .Values.image.tag }}\"\n        args: [--listen=:8080, --log.level=info]\n        resources: {requests: {cpu: 10m, memory: 64Mi}}\n",
			fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment",%s,"spec":{"replicas":2,"selector":{"matchLabels":{"app":%[2]q}},"template":{"metadata":{"labels":{"app":%[2]q}},"spec":{"containers":[{"name":"web","image":"registry.example.org/shop/web:1.2.3",`+
				`"args":["--listen=:8080","--log.level=info"],"resources":{"requests":{"cpu":"10m","memory":"64Mi"}}}]}}}}`, head(name), name))
	}
	for n := range crds {
		files = append(files, definition(i, n))
	}
	return files
}

// dashboardText returns a dashboard of Grafana.
func dashboardText(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"title\": \"Dashboard %d\",\n  \"panels\": [", n)
	for k := range dashboard {
		fmt.Fprintf(&b, "\n    {\"id\": %d, \"type\": \"timeseries\", \"title\": \"Panel %d\", \"gridPos\": {\"h\": 7, \"w\": 12, \"x\": 0, \"y\": %d},\n     \"targets\": [{\"expr\": \"sum(rate(container_cpu_usage_seconds_total{namespace=\\\"$namespace\\\"}[5m])) by (pod)\", \"legendFormat\": \"{{pod}}\"}]},", k, k, k)
	}
	b.WriteString("\n    {}\n  ]\n}")
	return b.String()
}

// definition returns a definition of a kind with many fields.
func definition(i, n int) chartFile {
	name, group := fmt.Sprintf("kind%d", n), chartName(i)+".example.org"
	var body, live strings.Builder
	for k := range crdFields {
		fmt.Fprintf(&body, "              field%d:\n                description: |-\n                  Field%d is a field with a text of some length that describes what it is for, what it\n                  must not contain, and what its default is.\n                type: string\n", k, k)
		fmt.Fprintf(&live, `,"field%d":{"description":"Field%d is a field with a text of some length that describes what it is for, what it\nmust not contain, and what its default is.","type":"string"}`, k, k)
	}
	const text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %[1]ss.%[2]s}\nspec:\n  group: %[2]s\n  names: {kind: Kind%[3]d, listKind: Kind%[3]dList, plural: %[1]ss, singular: %[1]s}\n  scope: Namespaced\n" +
		"  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n%[4]s"
	const object = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]ss.%[2]s"},"spec":{"group":"%[2]s","names":{"kind":"Kind%[3]d","listKind":"Kind%[3]dList","plural":"%[1]ss","singular":"%[1]s"},"scope":"Namespaced",` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%[4]s}}}}}}]}}`
	return chartFile{"crds/" + name + ".yaml", fmt.Sprintf(text, name, group, n, body.String()), fmt.Sprintf(object, name, group, n, live.String()[1:])}
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
