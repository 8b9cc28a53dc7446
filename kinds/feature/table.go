package feature

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed gates.txt
var gatesText string

// stage is the maturity of a gate in one release.
type stage string

const (
	preAlpha   stage = "" // the release does not have the gate
	alpha      stage = "alpha"
	beta       stage = "beta"
	ga         stage = "ga"
	deprecated stage = "deprecated"
)

// state is the state of a gate since a release.
type state struct {
	since   Release
	stage   stage
	enabled bool // by default
	locked  bool // to the default
}

// states are in the order of releases.
type states []state

// at returns the state in a release.
func (s states) at(r Release) state {
	var current state
	for _, next := range s {
		if next.since <= r {
			current = next
		}
	}
	return current
}

// table returns the content of gates.txt.
var table = sync.OnceValue(func() map[Gate]states {
	gates, err := parseTable(gatesText)
	if err != nil {
		panic(fmt.Sprintf("feature: gates.txt: %v", err))
	}
	return gates
})

// parseTable runs at the start of every process, so it allocates little.
func parseTable(text string) (map[Gate]states, error) {
	gates := make(map[Gate]states, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		list := make(states, 0, 1+strings.Count(rest, ","))
		for text := range strings.SplitSeq(rest, ",") {
			s, err := parseState(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("gate %s: %w", name, err)
			}
			list = append(list, s)
		}
		gates[Gate(name)] = list
	}
	return gates, nil
}

func parseState(text string) (s state, err error) {
	release, rest, _ := strings.Cut(text, " ")
	minor, err := strconv.Atoi(strings.TrimPrefix(release, "1."))
	if err != nil {
		return state{}, fmt.Errorf("release %q: %w", release, err)
	}
	inStage, rest, _ := strings.Cut(rest, " ")
	s = state{since: Release(minor), stage: stage(inStage)}
	switch s.stage {
	case alpha, beta, ga, deprecated:
	default:
		return state{}, fmt.Errorf("unknown stage %q", inStage)
	}
	switch rest {
	case "on", "on locked":
		s.enabled = true
	case "off", "off locked":
	default:
		return state{}, fmt.Errorf("unknown default %q", rest)
	}
	s.locked = strings.HasSuffix(rest, "locked")
	return s, nil
}
