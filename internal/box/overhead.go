//go:build !race

package box

// overhead is what a program of this build takes of memory, in times of what it uses.
const overhead = 1
