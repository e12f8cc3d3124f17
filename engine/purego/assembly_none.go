//go:build noasm || safe || appengine

package purego

// assembly says whether gonum was built with its assembly, under the same
// constraint as gonum's own files.
const assembly = false
