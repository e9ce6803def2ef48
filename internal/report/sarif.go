package report

import (
	"bufio"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// The objects of SARIF 2.1.0 (OASIS, errata 01) that driftd writes.
type (
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifMessage       `json:"shortDescription"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Start               time.Time           `json:"startTimeUtc,omitzero"`
		End                 time.Time           `json:"endTimeUtc,omitzero"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    *int              `json:"ruleIndex,omitempty"`
		Kind         string            `json:"kind"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name          string `json:"name"`
		QualifiedName string `json:"fullyQualifiedName"`
		Kind          string `json:"kind"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifProperties struct {
		Severity    model.Severity `json:"severity"`
		Declaration string         `json:"declaration"`
		Actor       model.Actor    `json:"actor"`
		FirstSeen   time.Time      `json:"firstSeen"`
		Owner       string         `json:"owner,omitempty"`
		Flapping    bool           `json:"flapping,omitempty"`
	}
)

// sarifLimit bounds a value in a message, in columns.
const sarifLimit = 120

func writeSARIF(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	e := emitter{w: w}
	e.open("", "{")
	e.value("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
	e.value("version", "2.1.0")
	e.open("runs", "[")
	e.open("", "{")
	e.value("tool", sarifTool{sarifDriver{"driftd", "https://github.com/driftd/driftd", sarifRules()}})
	e.value("automationDetails", map[string]string{"id": "driftd/" + r.Scan.ID})
	e.value("invocations", []sarifInvocation{invocation(out)})
	e.value("properties", map[string]model.Summary{"summary": r.Summary})
	e.open("results", "[")
	for _, findings := range [][]*model.Finding{out.open, out.unseen, out.resolved} {
		for _, f := range findings {
			e.value("", newSARIFResult(f, out.clock, o))
		}
	}
	e.close("]")
	e.close("}")
	e.close("]")
	e.close("}")
	return e.err
}

func sarifRules() []sarifRule {
	verdicts := model.Verdicts()
	rules := make([]sarifRule, len(verdicts))
	for i, v := range verdicts {
		rules[i] = sarifRule{string(v), sarifMessage{phrase.Meaning(string(v))}, sarifConfiguration{"warning"}}
	}
	return rules
}

func invocation(out *outline) sarifInvocation {
	scan := out.report.Scan
	inv := sarifInvocation{ExecutionSuccessful: scan.Complete, Start: phrase.UTC(scan.Started), End: phrase.UTC(scan.Finished)}
	if missing := out.notChecked(); missing != "" {
		inv.Notifications = append(inv.Notifications, sarifNotification{"error", sarifMessage{sarifText(missing)}})
	}
	for _, p := range out.unread() {
		inv.Notifications = append(inv.Notifications,
			sarifNotification{"warning", sarifMessage{sarifText("not fully read: " + p.String())}})
	}
	return inv
}

func newSARIFResult(raw *model.Finding, c phrase.Clock, o Options) sarifResult {
	f, b := public(raw), newBlock(raw, c, mostFields)
	res := sarifResult{
		RuleID:       string(f.Verdict),
		Kind:         "fail",
		Level:        sarifLevel(f.Severity),
		Message:      sarifMessage{sarifText(summary(&b))},
		Locations:    []sarifLocation{sarifPlace(&f, o)},
		Fingerprints: map[string]string{"driftdFinding/v1": f.ID},
		Properties:   sarifProperties{f.Severity, f.Declaration, f.Actor, f.FirstSeen, f.Owner, f.Flapping},
	}
	if i := slices.Index(model.Verdicts(), f.Verdict); i >= 0 {
		res.RuleIndex = &i
	}
	if !f.Resolved.IsZero() {
		res.Kind, res.Level = "pass", "none"
	}
	return res
}

func sarifLevel(s model.Severity) string {
	switch s {
	case model.Critical, model.High:
		return "error"
	case model.Medium:
		return "warning"
	}
	return "note"
}

// summary returns a finding in one line.
func summary(b *Block) string {
	parts := []string{b.Kind + " " + b.Resource + ": " + b.VerdictText}
	for i := range b.Fields {
		f := b.Fields[i].Cut(sarifLimit)
		parts = append(parts, f.Path+": "+plainCell(&f))
	}
	if b.More > 0 {
		parts = append(parts, b.Rest().String())
	}
	if b.Reason != "" {
		parts = append(parts, b.Reason)
	}
	for _, p := range []phrase.Phrase{b.Where, b.Who, b.Standing} {
		if len(p) > 0 {
			parts = append(parts, p.String())
		}
	}
	return strings.Join(parts, "; ")
}

// plainCell returns the values of a field without marks.
func plainCell(f *phrase.Field) string {
	if len(f.Lines) > 0 {
		return f.Tally
	}
	return f.Inline(func(s string) string { return s })
}

// sarifText keeps foreign braces and brackets from being read as placeholders
// and links (SARIF 2.1.0, 3.11.5 and 3.11.6).
func sarifText(s string) string {
	s = strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
	if strings.Contains(s, "](") {
		s = strings.NewReplacer("[", `\[`, "]", `\]`).Replace(s)
	}
	return s
}

func sarifPlace(f *model.Finding, o Options) sarifLocation {
	logical := sarifLogical{Name: f.Key.ID, QualifiedName: f.String(), Kind: "resource"}
	return sarifLocation{Physical: sarifFile(o.file(f)), Logical: []sarifLogical{logical}}
}

// sarifFile returns a location, or nil of nil.
func sarifFile(at *Location) *sarifPhysical {
	if at == nil {
		return nil
	}
	uri := url.URL{Path: at.Path}
	if path.IsAbs(at.Path) {
		uri.Scheme = "file"
	}
	physical := &sarifPhysical{Artifact: sarifArtifact{uri.String()}}
	if at.Line > 0 {
		physical.Region = &sarifRegion{at.Line}
	}
	return physical
}

// fileOf returns the file and the line that an address names; the line is 0 if it is unknown. ok
// is false for another address.
func fileOf(address string) (file string, line int, ok bool) {
	file = address
	if i := strings.LastIndexByte(address, ':'); i > 0 {
		if n, err := strconv.Atoi(address[i+1:]); err == nil && n > 0 {
			file, line = address[:i], n
		}
	}
	known := slices.Contains([]string{".yaml", ".yml", ".json", ".tf"}, path.Ext(file))
	return file, line, file != "" && (line > 0 || known)
}
