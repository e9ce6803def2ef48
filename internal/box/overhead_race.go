//go:build race

package box

// overhead is what the race detector takes of memory, in times of what the program uses.
const overhead = 16
