package storagetest

import (
	"math/rand/v2"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/transform"
)

// Harness gives the suite the stores it tests.
type Harness struct {
	// New returns a store of codec's objects with nothing in it: its keys are
	// its own, the etcd behind may be shared. What New starts ends in t.Cleanup.
	New func(t *testing.T, codec storage.Codec) Fixture
}

// Fixture is a store and the etcd behind it.
type Fixture struct {
	Store storage.Interface
	// Client reaches the etcd that the store writes to. The suite compacts it.
	Client *clientv3.Client
	// Prefix is what the store puts before its keys, /registry for instance.
	Prefix string
	// Transformer is the one the store was made with; nil stands for identity.
	Transformer transform.Transformer
	// Disturb changes what the store is made of, at random, while clients use it, as a server does
	// to its stores. The simulation calls it. Nil: nothing changes.
	Disturb func(random *rand.Rand)
}

// rule is a sentence of the contract and the test that shows it.
type rule struct {
	name  string
	check func(e *env)
}

// verb is a method of the contract, or a subject across methods.
type verb struct {
	name  string
	rules []rule
}

func verbs() []verb {
	return []verb{
		{"Create", createRules()},
		{"Get", getRules()},
		{"GetList", listRules()},
		{"GetListVersions", listVersionRules()},
		{"GetListPages", pageRules()},
		{"GetListOptions", listOptionRules()},
		{"GetListKnown", listKnownRules()},
		{"Watch", watchRules()},
		{"WatchStart", watchStartRules()},
		{"WatchOptions", watchOptionRules()},
		{"WatchPredicate", watchPredicateRules()},
		{"WatchEnd", watchEndRules()},
		{"GuaranteedUpdate", updateRules()},
		{"GuaranteedUpdateRaces", updateRaceRules()},
		{"GuaranteedUpdateSuggestion", updateSuggestionRules()},
		{"GuaranteedUpdateBytes", updateBytesRules()},
		{"Delete", deleteRules()},
		{"DeleteRaces", deleteRaceRules()},
		{"DeleteCorrupt", deleteCorruptRules()},
		{"Count", countRules()},
		{"TTL", ttlRules()},
		{"DryRun", dryRunRules()},
		{"Corrupt", corruptRules()},
	}
}

// Run checks every rule of the contract on stores from h.
func Run(t *testing.T, h Harness) {
	for _, kind := range Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			for _, verb := range verbs() {
				t.Run(verb.name, func(t *testing.T) { runRules(t, h, kind, verb.rules) })
			}
		})
	}
	// These wait for a clock: once must do, for the kind makes no difference.
	t.Run("Expiry", func(t *testing.T) { runRules(t, h, Kinds()[0], expiryRules()) })
}

func runRules(t *testing.T, h Harness, kind Kind, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			r.check(&env{T: t, Fixture: h.New(t, kind.Codec), kind: kind})
		})
	}
}
