// Package secrets plants secrets in every place of every source, declaration,
// receiver and setting, runs the built driftd on them, and looks for each of
// them, in every encoding, in everything that driftd writes: the database, logs,
// reports, pages, the API, metrics, messages, backups, temporary files, and the
// arguments, environment and limits of the processes that it starts.
//
// A row of a table is one secret in one place. It is planted on the declared
// side, on the live side, and on both with different values, and the finding
// that says so must exist: a test that reports nothing proves nothing.
//
// Its tests carry the build tag e2e; `make e2e` builds what they need and runs
// them.
package secrets
