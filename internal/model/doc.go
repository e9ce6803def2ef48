// Package model holds driftd's nouns: resources, claims, subjects, findings,
// and the typed values that they carry. It imports the standard library only,
// reads no clock and holds no state.
package model
