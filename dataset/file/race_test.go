//go:build race

package file_test

func init() { raceDetector = true }
