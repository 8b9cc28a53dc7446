package main

import (
	"fmt"
	"os"

	"github.com/miniapi/miniapi/testapi/faults"
)

// readFaults decodes the faults in a file with faults.Decode. It returns nil for an empty path.
func readFaults(path string) ([]faults.Fault, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--faults: %w", err)
	}
	list, err := faults.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("--faults %s: %w", path, err)
	}
	return list, nil
}
