package report

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

const (
	// annotationLimit is the number of annotations of one level that GitHub shows of a step.
	annotationLimit = 10
	// annotationFields bounds the fields of a finding in an annotation.
	annotationFields = 5
)

// The levels of annotations, which are also the names of the workflow commands.
const (
	annotationError   = "error"
	annotationWarning = "warning"
	annotationNotice  = "notice"
)

// writeGitHub writes findings as workflow commands of GitHub Actions. A step shows a limited
// number of annotations of each level, so the last one counts the findings that have none.
func writeGitHub(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	left := map[string]int{annotationError: annotationLimit, annotationWarning: annotationLimit, annotationNotice: annotationLimit - 1}
	if missing := out.notChecked(); missing != "" {
		left[annotationWarning]--
		annotate(w, annotationWarning, nil, "driftd: not everything was checked", missing)
	}
	rest := 0
	for _, f := range out.actionable() {
		level := annotationLevel(f.Severity)
		if left[level] == 0 {
			rest++
			continue
		}
		left[level]--
		b := newBlock(f, out.clock, annotationFields)
		title := strings.ToUpper(string(b.Severity)) + " " + b.VerdictText + ": " + b.Kind + " " + b.Resource
		annotate(w, level, o.locate(f), title, strings.TrimRight(details(&b), "\n"))
	}
	if rest > 0 {
		annotate(w, annotationNotice, nil, "driftd: more findings", phrase.Count(rest, "more finding")+": the summary and the log of the step have them")
	}
	return nil
}

// annotate writes one workflow command. Errors of w are those of its Flush.
func annotate(w *bufio.Writer, level string, at *Location, title, message string) {
	fmt.Fprintf(w, "::%s ", level)
	if at != nil {
		fmt.Fprintf(w, "file=%s,", commandProperty(at.Path))
		if at.Line > 0 {
			fmt.Fprintf(w, "line=%s,", strconv.Itoa(at.Line))
		}
	}
	fmt.Fprintf(w, "title=%s::%s\n", commandProperty(title), commandData(message))
}

func annotationLevel(s model.Severity) string {
	switch s {
	case model.Critical, model.High:
		return annotationError
	case model.Medium:
		return annotationWarning
	}
	return annotationNotice
}

// commandData escapes the message of a workflow command as actions/toolkit does.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// commandProperty escapes a property of a workflow command as actions/toolkit does.
func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// actionable returns the open findings that are neither hidden nor accepted, worst first, then
// those that were not checked.
func (o *outline) actionable() []*model.Finding {
	var list []*model.Finding
	for _, findings := range [][]*model.Finding{o.open, o.unseen} {
		for _, f := range findings {
			if f.Shown() {
				list = append(list, f)
			}
		}
	}
	return list
}
