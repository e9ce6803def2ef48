package server

import (
	"bytes"
	"html/template"
	"net/http"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/report"
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
{{range .Problems}}<p><strong>{{.}}</strong></p>
{{end -}}
<p>Version {{.Version}}.
{{with .LastRun -}}
The last scan ended at <time>{{stamp .Finished}}</time>.
{{- else -}}
Nothing has been scanned yet.
{{- end}}</p>
{{with .Open}}<p>Open now: {{.Findings}} findings, {{.Unchecked}} unchecked, {{.Accepted}} accepted, {{.Hidden}} hidden;
{{.InSync}} of {{.Resources}} in sync.</p>
{{end}}{{with .Behind}}<p>These receivers were not told of everything:</p>
<ul>{{range .}}
<li>{{.Name}} ({{.Type}}){{if .Stopped}}, stopped{{end}}{{with .Queued}}, {{.}} waiting{{end}}{{with .Untold}}, {{.}} held back{{end}}
{{- with .Error}}: {{.}}{{end}}{{if .Stopped}}; {{mend}}{{end}}</li>{{end}}
</ul>{{end}}
{{with .Soon}}<p>These decisions end soon:</p>
<ul>{{range .}}
<li>{{.ID}}, {{.Kind}} of {{.Subject.Key}} by {{.By}}: until <time>{{stamp .Until}}</time></li>{{end}}
{{with $.More}}<li>and {{.}} more</li>
{{end -}}
</ul>{{end}}
{{with .Waiting}}<p>Still waiting for:</p>
<ul>{{range .}}
<li>{{.}}</li>{{end}}
</ul>{{end}}
<ul>
<li><a href="/api/v1/report">report</a> (JSON)</li>
<li><a href="/api/v1/status">status</a> (JSON)</li>
<li><a href="/api/v1/decisions">decisions</a> (JSON)</li>
<li><a href="/metrics">metrics</a></li>
<li><a href="/healthz">health</a>, <a href="/readyz">readiness</a></li>
</ul>
</html>
`

// page serves a page for people who come with a browser.
func (a API) page() http.Handler {
	tmpl := template.Must(template.New("page").Funcs(template.FuncMap{"stamp": stamp, "mend": func() string { return Mend }}).Parse(pageText))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := a.currentStatus()
		if err != nil {
			a.reply(w, r, nil, err)
			return
		}
		soon, more := status.EndingNext()
		var body bytes.Buffer
		if err := tmpl.Execute(&body, struct {
			Status
			Behind []model.ReceiverStatus
			Soon   []model.DecisionStatus
			More   int
		}{status, status.behind(), soon, more}); err != nil {
			a.reply(w, r, nil, err)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		a.writeBody(w, r, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
	})
}

// findingPage shows one finding in full, as `driftd findings show` does: links
// in messages lead here.
func (a API) findingPage(w http.ResponseWriter, r *http.Request) {
	body, err := a.findingText(r.PathValue("id"))
	if err != nil {
		a.reply(w, r, nil, err)
		return
	}
	a.writeBody(w, r, http.StatusOK, plain, body)
}

func (a API) findingText(id string) ([]byte, error) {
	finding, stored, err := a.Store.Finding(id)
	if err != nil {
		return nil, err
	}
	versions := make([]report.Version, len(stored))
	for i, v := range stored {
		versions[i] = report.Version{At: v.At, Finding: v.Finding}
	}
	var body bytes.Buffer
	err = report.WriteFinding(&body, "table", finding, versions, report.Options{Now: a.Now()})
	return body.Bytes(), err
}
