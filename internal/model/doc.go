// Package model defines the data types that the other packages exchange: resources, claims,
// subjects, findings, and the typed values that they contain. It imports only the standard library,
// does not read the clock and keeps no global state.
package model
