package server

import (
	"bytes"
	"html/template"
	"net/http"
	"time"
)

// pageText is the page that a person finds at /.
const pageText = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>driftd</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }</style>
<h1>driftd</h1>
<p>Version {{.Version}}.
{{with .LastRun -}}
The last scan ended at <time>{{.Finished.UTC.Format $.Layout}}</time>: {{.Summary.Findings}} findings,
{{.Summary.Unchecked}} unchecked, {{.Summary.InSync}} of {{.Summary.Resources}} in sync.
{{- else -}}
Nothing has been scanned yet.
{{- end}}</p>
{{with .Waiting}}<p>Still waiting for:</p>
<ul>{{range .}}
<li>{{.}}</li>{{end}}
</ul>{{end}}
<ul>
<li><a href="/api/v1/report">report</a> (JSON)</li>
<li><a href="/api/v1/status">status</a> (JSON)</li>
<li><a href="/metrics">metrics</a></li>
<li><a href="/healthz">health</a>, <a href="/readyz">readiness</a></li>
</ul>
</html>
`

// page serves a page for people who come with a browser.
func (a API) page() http.Handler {
	tmpl := template.Must(template.New("page").Parse(pageText))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := a.currentStatus()
		if err != nil {
			a.reply(w, r, nil, err)
			return
		}
		var body bytes.Buffer
		if err := tmpl.Execute(&body, struct {
			Status
			Layout string
		}{status, time.RFC3339}); err != nil {
			a.reply(w, r, nil, err)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		a.writeBody(w, r, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
	})
}
