// Package secrets plants secrets in every place of every source, declaration, receiver and
// setting, and runs the built driftd. It searches for each of them, in every encoding, in all
// output of driftd: the database, logs, reports, pages, the API, metrics, messages, backups,
// temporary files, and the arguments, environment and limits of its child processes.
//
// A row of a table is one secret in one place. It is planted on the declared side, on the live
// side, and on both with different values, and there must be a finding about it: without a
// finding the test proves nothing.
//
// Its tests have the build tag e2e; `make e2e` builds their requirements and runs them.
package secrets
