// Package normalize converts answers of the Proxmox VE API to canonical values, so that the
// same cluster, read twice or in two versions (7.4 to 9.x), has equal values. It also has the
// schemas and severities of the kinds. It sends no requests.
//
// Tables, written with package table, define the format of each key and its default value.
//
//	normalizer := normalize.New(sealer)
//	value, running := normalizer.Guest(normalize.QEMU, rows) // of /nodes/N/qemu/I/pending
//	value := normalizer.Object(normalize.Storage, row)       // of /storage
//	running := normalizer.Waiting(normalize.SDNVnet, configured, applied) // of plain and ?running=1
//	list, ok := normalize.Addresses(answer, macs) // of a guest's agent
//	kinds := normalize.Kinds()
//
// The schemas also have the fields that the collector adds to a value: a guest's node, status,
// pool and addresses, and the acl rows of a user or group.
//
// Fields have the names of the API. Whole numbers and booleans are typed, in any notation of
// any version. A property string is a map, a list without order is sorted, a size is in bytes,
// a MAC address is in upper case, a secret is sealed. Empty text is left out. A key that is
// not in the tables is kept, with its scalars as text, so that changes of keys of newer
// versions are detected. Normalization never fails: a value of another format is kept as text.
package normalize
