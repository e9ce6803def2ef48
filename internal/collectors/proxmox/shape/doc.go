// Package shape knows how Proxmox VE writes things: it turns what the API
// answers into canonical values, so that the same cluster read twice, or by
// two versions (7.4 to 9.x), gives equal trees, and it says how each kind is
// compared. It talks to nobody.
//
// Tables say of each kind's keys in which form they are written, and what PVE
// takes where they are absent; one table serves the reading and the schema.
//
//	shaper := shape.New(sealer)
//	value, running := shaper.Guest(shape.QEMU, rows) // of /nodes/N/qemu/I/pending
//	value := shaper.Object(shape.Storage, row)       // of /storage
//	running := shaper.Waiting(shape.SDNVnet, configured, applied) // of plain and ?running=1
//	list, ok := shape.Addresses(answer, macs) // of a guest's agent
//	kinds := shape.Kinds()
//
// What a caller adds to a value itself (a guest's node, status, pool and
// addresses; the acl rows of a user or group) is known to the schemas.
//
// Fields keep the API's own names. Whole numbers and 0/1 are typed, whichever
// way a version writes them; a property string is a map, a list whose order
// does not count is sorted, a size is bytes, a MAC address is upper case, a
// secret is sealed. Empty text says nothing and is left out. A key that the
// tables do not know is kept as sent, its scalars as text, so that what a new
// version brings is seen. Nothing here fails: a value that is not in its form
// is kept as text, too.
package shape
