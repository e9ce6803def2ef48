// Package store stores the values of every resource over time, the findings with all their
// versions, the decisions, the sent and the queued notifications, and a record of each run. All of
// it is in one bbolt file, and only this package reads and writes that file.
//
// A resource's value is stored once, compressed, under the SHA-256 of its JSON form. A resource has
// a list of versions, each a time and such a digest. A scan that finds no change writes only its
// run record.
package store
