package deploy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A dashboard is what these tests read of grafana/driftd.json.
type dashboard struct {
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string      `json:"name"`
			Type       string      `json:"type"`
			Datasource *datasource `json:"datasource"`
			Definition expression  `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Datasource  *datasource `json:"datasource"`
	Position    position    `json:"gridPos"`
	Targets     []struct {
		Datasource *datasource `json:"datasource"`
		Expr       expression  `json:"expr"`
		Legend     string      `json:"legendFormat"`
	} `json:"targets"`
}

type position struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

func (p position) overlaps(q position) bool {
	return p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H
}

// onGrid reports whether it lies on Grafana's grid, which has 24 columns.
func (p position) onGrid() bool { return p.X >= 0 && p.Y >= 0 && p.W > 0 && p.H > 0 && p.X+p.W <= 24 }

// chosen reports whether it is the data source of the dashboard variable.
func (d *datasource) chosen() bool {
	return d != nil && *d == datasource{"prometheus", "${datasource}"}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("grafana/driftd.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) == 0 {
		t.Fatal("the dashboard is empty")
	}
	return d
}

func TestDashboardAsksForWhatThereIs(t *testing.T) {
	t.Parallel()
	known, d := exported(t), readDashboard(t)
	shown := regexp.MustCompile(`\{\{\s*([a-z_]+)\s*\}\}`)
	used := map[string]bool{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			target.Expr.check(t, known, submatches(shown, target.Legend)...)
			for name := range target.Expr.metrics() {
				used[name] = true
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Definition != "" {
			v.Definition.check(t, known)
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "driftd_") && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") && !used[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// TestDashboardCanBeImported holds what Grafana takes for granted.
func TestDashboardCanBeImported(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	if d.UID == "" {
		t.Error("it has no uid: a second import would make a second dashboard")
	}
	if v := d.Templating.List[0]; v.Name != "datasource" || v.Type != "datasource" {
		t.Errorf("the first variable is %s, want the data source: the others need it", v.Name)
	}
	for _, v := range d.Templating.List[1:] {
		if !v.Datasource.chosen() {
			t.Errorf("variable %s asks %v", v.Name, v.Datasource)
		}
	}
	ids := map[int]string{}
	for i, p := range d.Panels {
		if other, taken := ids[p.ID]; taken || p.ID == 0 {
			t.Errorf("panel %q has the id %d, as has %q", p.Title, p.ID, other)
		}
		ids[p.ID] = p.Title
		if !p.Position.onGrid() {
			t.Errorf("panel %q lies beside the grid: %+v", p.Title, p.Position)
		}
		for _, q := range d.Panels[:i] {
			if p.Position.overlaps(q.Position) {
				t.Errorf("panels %q and %q overlap", p.Title, q.Title)
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 || !p.Datasource.chosen() {
			t.Errorf("panel %q lacks a description, a query or the data source", p.Title)
		}
		for _, target := range p.Targets {
			if !target.Datasource.chosen() {
				t.Errorf("panel %q asks %v", p.Title, target.Datasource)
			}
		}
	}
}
