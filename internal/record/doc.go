// Package record writes the answers of a live system to a folder, without what identifies
// the system. A collector reads the folder in tests as it reads the system.
//
// A recording keeps the structure of the answers. Everything else is replaced unless a
// Vocabulary has it: texts by pseudonyms of the same form, times by times shifted by one
// offset. The same text has the same pseudonym in all requests and answers. The key of the
// pseudonyms exists in memory only.
package record
