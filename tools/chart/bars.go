package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// bar is a benchmark with its median result.
type bar struct {
	name  string
	value float64
}

// spaces replaces the characters that stand for spaces in names of benchmarks.
var spaces = strings.NewReplacer("/", " ", "_", " ")

// processors is the suffix of a name with the number of processors.
var processors = regexp.MustCompile(`-\d+$`)

// readBars returns the benchmarks that have a result with a unit, in the order of the input.
func readBars(in io.Reader, unit string) ([]bar, error) {
	var names []string
	values := map[string][]float64{}
	results := benchfmt.NewReader(in, "standard input")
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		value, ok := result.Value(unit)
		if !ok {
			continue
		}
		name := spaces.Replace(processors.ReplaceAllString(string(result.Name), ""))
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	if err := results.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no benchmark has a result in %q", unit)
	}
	bars := make([]bar, len(names))
	for i, name := range names {
		bars[i] = bar{name, median(values[name])}
	}
	return bars, nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}
