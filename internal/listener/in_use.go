package listener

import (
	"errors"
	"fmt"
)

// AdviseInUse adds a remedy to the error of a port that another process uses: freePort is the flag
// that takes a free port. It returns other errors, and nil, as they are.
func AdviseInUse(err error, freePort string) error {
	if !errors.Is(err, errInUse) {
		return err
	}
	return fmt.Errorf("%w: stop the process that uses the port, or take a free one with %s", err, freePort)
}
