package openstacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// An item is the part of a path that names one object, and what of it.
type item struct {
	// list is the path of its list, id its ID, and rest what follows, as in tags/web.
	list, id, rest string
}

// itemOf returns the object that a path names; ok is false if it names none.
func itemOf(path string, who Account) (it item, ok bool) {
	path = strings.Replace(path, cinder+who.Project.ID+"/", cinder, 1)
	for list := range lists() {
		after, found := strings.CutPrefix(path, strings.TrimSuffix(list, "/detail")+"/")
		if !found || list == Roll || after == "detail" || strings.HasSuffix(after, "/os-instance-actions") {
			continue
		}
		it.list = list
		it.id, it.rest, _ = strings.Cut(after, "/")
		return it, true
	}
	return it, false
}

// item answers a request for one object: it returns, changes or deletes it.
func (s *Server) item(w http.ResponseWriter, r *http.Request, who Account, it item) {
	l := lists()[it.list]
	rows := s.estate.Lists[it.list]
	at := slices.IndexFunc(rows, func(row Row) bool { return idOf(row) == it.id && (who.admin() || ownerOf(l, row) == who.Project.ID) })
	switch {
	case at < 0:
		write(w, http.StatusNotFound, fail("itemNotFound", http.StatusNotFound, it.id+" could not be found."))
		return
	case r.Method == http.MethodGet && it.rest == "":
		write(w, http.StatusOK, it.answer(l, rows[at]))
		return
	case !slices.Contains(who.Roles, "member"):
		write(w, http.StatusForbidden, fail("forbidden", http.StatusForbidden, "Policy doesn't allow it to be performed."))
		return
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != fmt.Sprintf("revision_number=%v", rows[at]["revision_number"]):
		write(w, http.StatusPreconditionFailed, fail("NeutronError", http.StatusPreconditionFailed, "Constrained to another revision."))
		return
	case r.Method == http.MethodDelete && it.rest == "":
		s.estate.Lists[it.list] = slices.Delete(rows, at, at+1)
	default:
		row, err := it.changed(r, rows[at])
		if err != nil {
			s.strange(w, r)
			return
		}
		rows[at] = row
	}
	clear(s.answers)
	w.Header().Set(requestID, "req-"+it.id)
	w.WriteHeader(http.StatusNoContent)
}

// answer returns the answer with an object. Glance returns the object itself.
func (it item) answer(l list, row Row) Row {
	if it.list == Images {
		return row
	}
	return Row{strings.TrimSuffix(l.rows, "s"): row}
}

// changed returns a row as a request changes it.
func (it item) changed(r *http.Request, row Row) (Row, error) {
	row = maps.Clone(row)
	if number, ok := row["revision_number"].(int); ok {
		row["revision_number"] = number + 1
	}
	what, name, _ := strings.Cut(it.rest, "/")
	switch {
	case what == "tags":
		held, _ := row["tags"].([]string)
		held = slices.DeleteFunc(slices.Clone(held), func(tag string) bool { return tag == name })
		if r.Method == http.MethodPut {
			held = append(held, name)
		}
		row["tags"] = held
		return row, nil
	case what == "metadata" && r.Method == http.MethodDelete:
		entries, _ := row["metadata"].(Row)
		entries = maps.Clone(entries)
		delete(entries, name)
		row["metadata"] = entries
		return row, nil
	}
	var body map[string]Row
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	for _, fields := range body {
		if what == "metadata" {
			entries, _ := row["metadata"].(Row)
			row["metadata"] = joined(entries, fields)
			continue
		}
		row = joined(row, fields)
	}
	return row, nil
}

func joined(row, fields Row) Row {
	row = maps.Clone(row)
	maps.Copy(row, fields)
	return row
}
