package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/testapi/faults"
)

// readFaults returns the faults in a file, which has a list in YAML or JSON. Without a path it
// returns none.
func readFaults(path string) ([]faults.Fault, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--faults: %w", err)
	}
	var list []faults.Fault
	if err := yaml.UnmarshalStrict(data, &list); err != nil {
		return nil, fmt.Errorf("--faults %s: the file must have a list of faults: %w", path, err)
	}
	return list, nil
}
