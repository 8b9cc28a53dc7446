// Package leaktest finds goroutines that tests have left.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is the time that goroutines have to end. goleak alone gives them half a second, which is
// short for a busy machine.
const patience = time.Minute

// Run runs the tests of a package and returns the exit code. It is 1 if the tests pass and Find
// finds a goroutine.
func Run(m *testing.M, ignored ...goleak.Option) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := Find(ignored...); err != nil {
		fmt.Fprintln(os.Stderr, "the tests passed, but left goroutines:", err)
		return 1
	}
	return 0
}

// Find returns an error that describes the goroutines that do not end within a minute. Goroutines
// of the runtime and of the testing package are ignored.
func Find(ignored ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(ignored...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
