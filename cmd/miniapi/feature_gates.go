package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// featureGates is the value of --feature-gates. The flag can be repeated.
type featureGates map[string]bool

// Set adds pairs such as A=true,kube:B=false. It returns the errors of kube-apiserver.
func (g *featureGates) Set(text string) error {
	if *g == nil {
		*g = featureGates{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		if component, rest, ok := strings.Cut(pair, ":"); ok {
			if component != "kube" {
				return fmt.Errorf("component not registered: %s", component)
			}
			pair = rest
		}
		name, value, ok := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok {
			return fmt.Errorf("missing bool value for %s", name)
		}
		enabled, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("invalid value of %s=%s, err: %w", name, value, err)
		}
		(*g)[name] = enabled
	}
	return nil
}

func (g *featureGates) String() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(*g)) {
		pairs = append(pairs, fmt.Sprintf("%s=%t", name, (*g)[name]))
	}
	return strings.Join(pairs, ",")
}

func (g *featureGates) Type() string { return "NAME=BOOL" }
