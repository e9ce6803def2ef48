package netboxtest

import (
	"net/url"
	"slices"
)

// filtered returns the rows that the filters of a query select: by id, and by the machine or
// device that a row belongs to. Other filters are ignored, as NetBox ignores those that a list
// does not have.
func (e *Estate) filtered(rows []Row, q url.Values) []Row {
	for name, owner := range map[string]string{"id": "", "virtual_machine_id": "virtual_machine", "device_id": "device"} {
		if wanted := q[name]; wanted != nil {
			rows = slices.DeleteFunc(rows, func(r Row) bool { return !slices.Contains(wanted, e.idOf(r, owner)) })
		}
	}
	return rows
}

// idOf returns the id of a row, or of its owner: an address has that of its interface.
func (e *Estate) idOf(r Row, owner string) string {
	if owner == "" {
		id, _ := r["id"].(int)
		return itoa(id)
	}
	lists := map[any]string{"virtualization.vminterface": "virtualization/interfaces", "dcim.interface": "dcim/interfaces"}
	for _, on := range e.Lists[lists[r["assigned_object_type"]]].Rows {
		if on["id"] == r["assigned_object_id"] {
			r = on
		}
	}
	if ref, ok := r[owner].(Row); ok {
		return e.idOf(ref, "")
	}
	return ""
}
