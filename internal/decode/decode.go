// Package decode reads foreign JSON and YAML into values, within bounds.
package decode
