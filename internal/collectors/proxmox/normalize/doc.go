// Package normalize brings answers of the Proxmox VE API into canonical values, so that the
// same cluster read twice, or by two versions (7.4 to 9.x), gives equal trees, and it
// describes how each kind is compared. It sends no requests.
//
// Tables in the language of package table state in which form each key is written, and
// which value PVE takes for an absent one.
//
//	normalizer := normalize.New(sealer)
//	value, running := normalizer.Guest(normalize.QEMU, rows) // of /nodes/N/qemu/I/pending
//	value := normalizer.Object(normalize.Storage, row)       // of /storage
//	running := normalizer.Waiting(normalize.SDNVnet, configured, applied) // of plain and ?running=1
//	list, ok := normalize.Addresses(answer, macs) // of a guest's agent
//	kinds := normalize.Kinds()
//
// The schemas also have the fields that a caller adds to a value (a guest's node, status,
// pool and addresses; the acl rows of a user or group).
//
// Fields keep the API's names. Whole numbers and 0/1 are typed, in whichever way a
// version writes them; a property string is a map, a list whose order has no meaning is
// sorted, a size is bytes, a MAC address is upper case, a secret is sealed. Empty text is
// left out. A key that the tables lack is kept as sent, its scalars as text, so that what
// a new version adds is seen. Reading never fails: a value that is not in its form is
// kept as text, too.
package normalize
