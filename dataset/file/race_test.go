//go:build race && linux

package file_test

func init() { raceDetector = true }
