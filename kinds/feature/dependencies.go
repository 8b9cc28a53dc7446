package feature

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

//go:embed dependencies.txt
var dependenciesText string

// checkDependencies returns an error for each enabled gate that requires a disabled gate. The
// defaults of all releases pass, so it is called only for changed sets.
func checkDependencies(enabled map[Gate]bool) error {
	var errs []error
	for line := range strings.Lines(dependenciesText) {
		names := strings.Fields(line)
		if len(names) == 0 || names[0] == "#" || !enabled[Gate(names[0])] {
			continue
		}
		required := slices.DeleteFunc(names[1:], func(name string) bool { return enabled[Gate(name)] })
		if len(required) > 0 {
			errs = append(errs, fmt.Errorf("%s is enabled, but depends on features that are disabled: %s", names[0], required))
		}
	}
	return errors.Join(errs...)
}
