// Package mapping maps the resource types of infrastructure-as-code providers to live resources.
// For each type, a table defines the live resource of an instance, the live field of each
// attribute, the meaning of a missing value on either side, and the attributes without a live side.
// Tables are data; the package reads them once and has no other side effects.
//
// A Type converts the attributes of one instance to a Mapped, which consists of the live resource
// that the instance claims, the mapped attributes, and a Lens. The Lens converts the live resource
// to the same attributes, so that the two can be compared. docs/mapping.md describes the tables.
package mapping
