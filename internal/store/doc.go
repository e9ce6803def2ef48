// Package store keeps what driftd has seen: the values of every resource over
// time, the findings with every value that they had, what people decided about
// them, what receivers were told and are still to be told, and a record of each
// run. It is one bbolt file, and this package is its only reader and writer.
//
// A resource's value is stored once, compressed, under the SHA-256 of its JSON
// form; a resource has a list of versions, each a moment and such a hash. A
// scan that finds nothing changed writes its run record and nothing else.
package store
