package feature

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Config selects a release and changes the defaults of its gates.
type Config struct {
	// EmulatedVersion is a minor release, such as 1.36. Default: the latest one.
	EmulatedVersion string
	// Gates are gates to enable or disable.
	Gates map[string]bool
}

// Validate returns all errors of the config, joined, with the texts of kube-apiserver.
func (c Config) Validate() error {
	_, err := c.Set()
	return err
}

// Set returns the state of all gates.
func (c Config) Set() (*Set, error) {
	release, err := parseRelease(c.EmulatedVersion)
	if err != nil {
		return nil, err
	}
	if len(c.Gates) == 0 {
		return At(release), nil
	}
	if err := checkChanges(release, c.Gates); err != nil {
		return nil, err
	}
	enabled := maps.Clone(At(release).enabled)
	for name, value := range c.Gates {
		if inStage, ok := groups[name]; ok {
			setStage(enabled, release, inStage, value)
		}
	}
	for name, value := range c.Gates { // a gate that is set itself precedes its group
		enabled[Gate(name)] = value
	}
	if err := checkDependencies(enabled); err != nil {
		return nil, err
	}
	return newSet(release, enabled), nil
}

// groups are the gates that set all gates of a stage.
var groups = map[string]stage{"AllAlpha": alpha, "AllBeta": beta}

func setStage(enabled map[Gate]bool, release Release, in stage, value bool) {
	for name, states := range table() {
		if !name.fixed() && states.at(release).stage == in {
			enabled[name] = value
		}
	}
}

// checkChanges returns the errors of gates that cannot be set.
func checkChanges(release Release, gates map[string]bool) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		states, ok := table()[Gate(name)]
		if !ok || Gate(name).fixed() {
			return fmt.Errorf("unrecognized feature gate: %s", name)
		}
		value := gates[name]
		switch s := states.at(release); {
		case s.locked && s.enabled != value:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, value, s.enabled))
		case s.stage == preAlpha:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is PreAlpha at emulated version %s, min compatibility version %s",
				name, value, release, release-1))
		}
	}
	return errors.Join(errs...)
}

// Set is the state of all gates in one release. It is immutable.
type Set struct {
	release Release
	enabled map[Gate]bool
	name    string
}

func newSet(release Release, enabled map[Gate]bool) *Set {
	s := &Set{release: release, enabled: enabled, name: release.String()}
	var changes []string
	for name, value := range enabled {
		if value != table()[name].at(release).enabled {
			changes = append(changes, fmt.Sprintf("%s=%t", name, value))
		}
	}
	if len(changes) > 0 {
		slices.Sort(changes)
		s.name += " " + strings.Join(changes, ",")
	}
	return s
}

// Default returns the defaults of the latest release.
func Default() *Set { return At(Latest) }

// At returns the defaults of a release.
func At(release Release) *Set { return defaults()[release] }

var defaults = sync.OnceValue(func() map[Release]*Set {
	sets := map[Release]*Set{}
	for release := Oldest; release <= Latest; release++ {
		enabled := make(map[Gate]bool, len(table()))
		for name, states := range table() {
			enabled[name] = states.at(release).enabled
		}
		sets[release] = newSet(release, enabled)
	}
	return sets
})

// Release returns the emulated release.
func (s *Set) Release() Release { return s.release }

// Enabled reports whether a gate is enabled.
func (s *Set) Enabled(g Gate) bool { return g == Always || s.enabled[g] }

// String returns the release and the gates that differ from its defaults. It is the same for Sets
// of equal content only.
func (s *Set) String() string { return s.name }
