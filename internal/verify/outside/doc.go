// Package outside tests the command fdridge from outside, to find faults.
//
// The tests draw small tables and flags, run the command, and compare every
// figure of its JSON with exact rational arithmetic. They import nothing of
// this module and rely only on its documentation. Known open faults are
// counted as "excluded" and are not reported.
//
// These variables control the search:
//
//   - FDRIDGE_OUTSIDE is the number of runs (default 120).
//   - FDRIDGE_OUTSIDE_SEED is the seed, FDRIDGE_OUTSIDE_FIRST the first run.
//   - FDRIDGE_OUTSIDE_MINIMISE=1 makes the table of each fault small.
//   - FDRIDGE_BINARY is the command; without it the tests build the command.
package outside
