// Package store stores the values of every resource over time, the findings with all their
// versions, the decisions, the sent and the queued notifications, the actions, the audit log, and a
// record of each run. All data is in one bbolt file, which only this package reads and writes.
//
// A value of a resource is stored once, compressed, under the SHA-256 of its JSON form. A resource
// has a list of versions, each of which consists of a time and such a digest. A scan that finds no
// change writes only its run record.
package store
