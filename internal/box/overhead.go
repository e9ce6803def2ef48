//go:build !race

package box

// overhead is the memory that a program of this build takes for each byte that it uses.
const overhead = 1
