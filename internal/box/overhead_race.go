//go:build race

package box

// overhead is the memory that the race detector takes for each byte that a program uses.
const overhead = 16
