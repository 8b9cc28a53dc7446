package feature

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestEveryNamedGateIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "gate.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := table()[Gate(value)]; !ok && Gate(value) != Always {
			t.Errorf("%s is not in gates.txt", value)
		}
		named++
		return true
	})
	if named == 0 {
		t.Error("gate.go has no gates")
	}
}

func TestStatesAreInOrder(t *testing.T) {
	for name, states := range table() {
		for i := 1; i < len(states); i++ {
			if states[i-1].since >= states[i].since {
				t.Errorf("%s: the states are not in the order of releases", name)
			}
		}
		if first := states[0]; len(states) > 1 && states[1].since <= Oldest {
			t.Errorf("%s: the state of %s cannot be emulated", name, first.since)
		}
	}
}

func TestGatesChangeWithTheRelease(t *testing.T) {
	for _, tc := range []struct {
		gate           Gate
		oldest, latest bool
	}{
		{gate: HPAGeneration, oldest: false, latest: true},             // new
		{gate: MaxUnavailableStatefulSet, oldest: false, latest: true}, // another default
		{gate: CoordinatedLeaderElection, oldest: false, latest: false},
		{gate: Always, oldest: true, latest: true},
	} {
		if At(Oldest).Enabled(tc.gate) != tc.oldest || Default().Enabled(tc.gate) != tc.latest {
			t.Errorf("%s: %t in %s, %t in %s", tc.gate, At(Oldest).Enabled(tc.gate), Oldest, Default().Enabled(tc.gate), Latest)
		}
	}
}

func TestGatesCanBeSet(t *testing.T) {
	for _, tc := range []struct {
		name    string
		config  Config
		gate    Gate
		enabled bool
	}{
		{"enabled", Config{Gates: map[string]bool{"CoordinatedLeaderElection": true}}, CoordinatedLeaderElection, true},
		{"disabled", Config{Gates: map[string]bool{"HPAGeneration": false}}, HPAGeneration, false},
		{"all of a stage", Config{Gates: map[string]bool{"AllBeta": false}}, HPAGeneration, false},
		{"all of another stage", Config{Gates: map[string]bool{"AllAlpha": true, "GenericWorkload": true}}, CoordinatedLeaderElection, false},
		{"one, against its stage", Config{Gates: map[string]bool{"AllBeta": false, "HPAGeneration": true}}, HPAGeneration, true},
		{"the stage of the emulated release", Config{EmulatedVersion: "1.36", Gates: map[string]bool{"AllAlpha": true}}, VolumeLimitScaling, true},
	} {
		set, err := tc.config.Set()
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if set.Enabled(tc.gate) != tc.enabled {
			t.Errorf("%s: %s is %t", tc.name, tc.gate, !tc.enabled)
		}
	}
}

func TestErrorsAreThoseOfKubeAPIServer(t *testing.T) {
	for want, config := range map[string]Config{
		`could not parse "x" as version`:                       {EmulatedVersion: "x"},
		"patch version not allowed, got: kube=1.36.3":          {EmulatedVersion: "1.36.3"},
		"component not registered: wardle":                     {EmulatedVersion: "wardle=1.36"},
		"emulation version 1.35 is not between [1.36, 1.37.0]": {EmulatedVersion: "1.35"},
		"emulation version 1.38 is not between [1.36, 1.37.0]": {EmulatedVersion: "kube=1.38"},
		"unrecognized feature gate: Nothing":                   {Gates: map[string]bool{"Nothing": true}},
		"unrecognized feature gate: eventColumns":              {Gates: map[string]bool{"eventColumns": true}},
		"unrecognized feature gate: ":                          {Gates: map[string]bool{"": true}},
		"cannot set feature gate HostnameOverride to false, feature is locked to true": {
			Gates: map[string]bool{"HostnameOverride": false}},
		"CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload TopologyAwareWorkloadScheduling]": {
			Gates: map[string]bool{"CompositePodGroup": true}},
		"ResourceHealthStatusMessage is enabled, but depends on features that are disabled: [ResourceHealthStatus]": {
			Gates: map[string]bool{"ResourceHealthStatus": false}},
		"cannot set feature gate HPAGeneration to true, feature is PreAlpha at emulated version 1.36, min compatibility version 1.35": {
			EmulatedVersion: "1.36", Gates: map[string]bool{"HPAGeneration": true}},
	} {
		if err := config.Validate(); err == nil || err.Error() != want {
			t.Errorf("%+v: got %v, want %s", config, err, want)
		}
	}
}

func TestDependenciesOfGates(t *testing.T) {
	for line := range strings.Lines(dependenciesText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			if _, ok := table()[Gate(name)]; !ok {
				t.Errorf("%s is not in gates.txt", name)
			}
		}
	}
	for release := Oldest; release <= Latest; release++ {
		if err := checkDependencies(At(release).enabled); err != nil {
			t.Errorf("the defaults of %s: %v", release, err)
		}
	}
}

func TestTextIdentifiesASet(t *testing.T) {
	for want, config := range map[string]Config{
		"1.37":                     {},
		"1.36":                     {EmulatedVersion: "v1.36"},
		"1.37 HPAGeneration=false": {Gates: map[string]bool{"HPAGeneration": false, "ClusterTrustBundle": true}},
	} {
		if set, err := config.Set(); err != nil || set.String() != want {
			t.Errorf("%+v: got %q, %v, want %q", config, set, err, want)
		}
	}
}

func TestMalformedTables(t *testing.T) {
	for _, text := range []string{"A 1.36 beta", "A x beta on", "A 1.36 gamma on", "A"} {
		if _, err := parseTable(text); err == nil || !strings.Contains(err.Error(), "gate A") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		if _, err := parseTable(gatesText); err != nil {
			b.Fatal(err)
		}
	}
}
