package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the status of the daemon, sources, declarations, receivers, rules and decisions",
		Long: `Show the status, from the daemon or, if none runs, from the state folder: when each
source and declaration was last read, undelivered messages of each receiver and
why, ignore rules that hide nothing, and decisions that end within a week. The exit
code is 0 if the status can be read; scan and report have exit codes for drift.`,
		Example: "  driftd status\n  driftd status -o json",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				s, err := client.Status(ctx)
				if err != nil {
					return err
				}
				return c.printStatus(&s)
			})
		},
	}
	c.outputFlag(cmd, "table", "json")
	return cmd
}

func (c *command) printStatus(s *server.Status) error {
	switch c.output {
	case "table":
		return writeStatus(c.streams.Out, s, time.Now(), remedy.Quote(c.placeFlags()...))
	case "json":
		encoder := json.NewEncoder(c.streams.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	}
	return fmt.Errorf("unknown format %q: want table or json", c.output)
}

// A sheet is a text of tables, each with a title row; empty ones are left out.
type sheet struct {
	out *tabwriter.Writer
	now time.Time
	// flags are added to the commands, so that they read the same state.
	flags string
}

func (t *sheet) command(text string) string { return strings.TrimSpace(text + " " + t.flags) }

func writeStatus(w io.Writer, s *server.Status, now time.Time, flags string) error {
	t := sheet{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), now, flags}
	t.head(s)
	if run := s.LastRun; run != nil {
		t.table("SOURCE", []string{"TYPE", "RESOURCES", "READ", "STATE"}, len(run.Sources), func(i int) []string { return t.source(&run.Sources[i]) })
		t.table("DECLARATION", []string{"TYPE", "CLAIMS", "REVISION", "STATE"}, len(run.Declarations),
			func(i int) []string { return declarationRow(&run.Declarations[i]) })
	}
	if run := s.LastRun; run != nil {
		t.table("NOT JUDGED", []string{"SOURCE", "RESOURCES", "WHY"}, len(run.NotJudged), func(i int) []string { return notJudgedRow(&run.NotJudged[i]) })
		t.table("NOT GOVERNED", []string{"SOURCE", "DECLARATION", "TO GOVERN IT"}, len(run.NotGoverned),
			func(i int) []string { return notGovernedRow(&run.NotGoverned[i]) })
		notes := noteRows(run.Declarations)
		t.table("CODE THAT PLANS RUN", []string{"DECLARATION", "WHAT"}, len(notes), func(i int) []string { return notes[i] })
	}
	t.table("RECEIVER", []string{"TYPE", "WAITING", "DELIVERED", "STATE"}, len(s.Receivers),
		func(i int) []string { return t.receiver(&s.Receivers[i], s.Daemon) })
	if s.LastRun != nil {
		for _, sort := range []struct {
			title string
			rules []model.RuleRun
		}{{"UNUSED IGNORE RULE", s.LastRun.Rules}, {"UNUSED SEVERITY RULE", s.LastRun.SeverityRules}} {
			dead := deadRules(sort.rules)
			t.table(sort.title, []string{"REASON", "WHY"}, len(dead), func(i int) []string { return dead[i] })
		}
	}
	soon, more := s.EndingNext()
	t.table("ENDS SOON", []string{"KIND", "ABOUT", "BY", "UNTIL"}, len(soon), func(i int) []string { return t.ending(&soon[i]) })
	if more > 0 {
		t.row(fmt.Sprintf("and %d more: see driftd decisions", more))
	}
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("print status: %w", err)
	}
	return nil
}

// widest is the maximum length of a cell that is not the last of its row, in characters.
const widest = 100

func (t *sheet) row(cells ...string) {
	for i := range cells {
		if cells[i] = phrase.Visible(cells[i]); i < len(cells)-1 {
			cells[i] = phrase.Clip(cells[i], widest)
		}
	}
	fmt.Fprintln(t.out, strings.Join(cells, "\t"))
}

func (t *sheet) table(title string, columns []string, n int, row func(int) []string) {
	if n == 0 {
		return
	}
	fmt.Fprintln(t.out)
	t.row(append([]string{title}, columns...)...)
	for i := range n {
		t.row(row(i)...)
	}
}

func (t *sheet) head(s *server.Status) {
	for _, problem := range s.Problems {
		t.row("PROBLEM: " + problem)
	}
	daemon := "no daemon runs"
	switch {
	case s.Daemon && len(s.Waiting) > 0:
		daemon = "the daemon runs, and waits for " + strings.Join(s.Waiting, ", ")
	case s.Daemon:
		daemon = "the daemon runs"
	}
	t.row("driftd "+s.Version, daemon)
	if s.Box != nil {
		t.row("box", s.Box.String())
	}
	t.audit(s.Audit, s.Daemon)
	if a := s.Actions; a != nil {
		t.row("actions", fmt.Sprintf("%d open; %s held; %s stopped; %s in force; see %s",
			a.Open, phrase.Count(a.Held, "finding"), phrase.Count(a.Stopped, "rule"), phrase.Count(a.Frozen, "freeze"), t.command("driftd actions")))
	}
	t.row("store", fmt.Sprintf("%.1f MiB", float64(s.StoreBytes)/(1<<20)))
	if s.LastRun == nil {
		t.row("last scan", "none yet")
		return
	}
	t.row("last scan", t.when(s.LastRun.Finished))
	if !s.LastRun.Complete {
		t.row("not checked", s.LastRun.NotChecked.String()+"; "+t.command("driftd report")+" lists them")
	}
	if o := s.Open; o != nil {
		t.row("open", fmt.Sprintf("%d drifted, %d unchecked, %d accepted, %d hidden; %d of %d in sync",
			o.Findings, o.Unchecked, o.Accepted, o.Hidden, o.InSync, o.Resources))
	}
	if n := s.LastRun.Summary.Exempt; n > 0 {
		t.row("exempt", phrase.Count(n, "field")+": see "+t.command("driftd findings --exempt"))
	}
}

// audit prints the state of the audit log, without the reasons that PROBLEM lines have.
func (t *sheet) audit(s *server.AuditState, hasDaemon bool) {
	if s == nil {
		return
	}
	if s.Error != "" {
		t.row("audit log", s.Error)
		return
	}
	entries := phrase.Number(int(s.Entries)) + " entries"
	if s.Entries == 1 {
		entries = "1 entry"
	}
	verified := "not verified yet"
	switch {
	case !hasDaemon:
		verified = "driftd audit verify verifies it"
	case !s.Verified.IsZero():
		verified = "verified " + t.when(s.Verified) + ": " + s.Result()
	}
	if s.Doubt != nil {
		verified = "in doubt; " + verified
	}
	t.row("audit log", entries+"; "+verified+"; "+s.Kept())
}

// when returns a time, and how long ago it was.
func (t *sheet) when(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	text := at.UTC().Format(time.RFC3339)
	if age := t.now.Sub(at).Truncate(time.Second); age >= 0 {
		text += " (" + age.String() + " ago)"
	}
	return text
}

func (t *sheet) source(s *model.SourceRun) []string {
	state := cmp.Or(s.Trouble(t.now), "ok")
	return []string{s.Name, s.Type, strconv.Itoa(s.Resources), t.when(s.Taken), state}
}

func declarationRow(d *model.DeclarationRun) []string {
	state := "ok"
	switch {
	case d.Err != "":
		state = d.Err
	case len(d.Problems) == 1 && d.Problems[0].Address == d.Name:
		state = "cannot be read: " + d.Problems[0].Reason
	case len(d.Problems) > 0:
		state = fmt.Sprintf("%s cannot be read: %s: %s", phrase.Count(len(d.Problems), "part"), d.Problems[0].Address, d.Problems[0].Reason)
	}
	return []string{d.Name, d.Type, strconv.Itoa(d.Claims), cmp.Or(fmt.Sprintf("%.12s", d.Revision), "-"), state}
}

func notJudgedRow(n *model.NotJudged) []string {
	return []string{cmp.Or(n.Address, "older than the first scan"), n.Source, strconv.Itoa(n.Count), n.Reason}
}

func notGovernedRow(n *model.NotGoverned) []string {
	return []string{n.Place, n.Source, n.Declaration, n.Remedy}
}

func noteRows(declarations []model.DeclarationRun) [][]string {
	var rows [][]string
	for i := range declarations {
		for _, n := range declarations[i].Notes {
			rows = append(rows, []string{cmp.Or(n.Address, "-"), declarations[i].Name, n.Text})
		}
	}
	return rows
}

// receiver returns the row of a receiver. Only a daemon has the results of deliveries.
func (t *sheet) receiver(r *model.ReceiverStatus, daemon bool) []string {
	waiting, delivered, state := strconv.Itoa(r.Queued), "not since the start", cmp.Or(r.Error, "ok")
	if r.Queued > 0 && !r.Oldest.IsZero() {
		waiting += " since " + r.Oldest.UTC().Format(time.RFC3339)
	}
	if r.Untold > 0 {
		waiting += fmt.Sprintf(", %d held back", r.Untold)
	}
	if !r.Delivered.IsZero() {
		delivered = t.when(r.Delivered)
	}
	switch {
	case !daemon:
		delivered, state = "-", "no daemon runs"
	case r.Stopped:
		state = "STOPPED: " + state + "; " + server.Mend
	}
	return []string{r.Name, r.Type, waiting, delivered, state}
}

func deadRules(rules []model.RuleRun) [][]string {
	var dead [][]string
	for i := range rules {
		if r := &rules[i]; r.Dead() {
			dead = append(dead, []string{r.Rule, r.Reason, r.Why() + ": remove it"})
		}
	}
	return dead
}

func (t *sheet) ending(d *model.DecisionStatus) []string {
	return []string{d.ID, string(d.Kind), d.Topic(), d.By, d.Until.UTC().Format(time.RFC3339)}
}
