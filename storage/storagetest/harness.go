package storagetest

import (
	"math/rand/v2"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/transform"
)

// Harness provides the stores to test.
type Harness struct {
	// New returns an empty store of codec's objects. Its keys are its own; its etcd may be shared.
	// t.Cleanup ends what New starts.
	New func(t *testing.T, codec storage.Codec) Fixture
}

// Fixture is a store and its etcd.
type Fixture struct {
	Store storage.Interface
	// Client is a client of the etcd of the store. The suite compacts it.
	Client *clientv3.Client
	// Prefix is the prefix of the store's keys in etcd, for instance /registry.
	Prefix string
	// Transformer is the transformer of the store; nil is identity.
	Transformer transform.Transformer
	// Disturb randomly replaces parts of the store while clients use it, as a server does. The
	// simulation calls it. Nil does nothing.
	Disturb func(random *rand.Rand)
}

// rule is a rule of the contract and its test.
type rule struct {
	name  string
	check func(e *env)
}

// verb is a method of the contract, or a subject of several methods.
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

// Run tests every rule of the contract on stores from h.
func Run(t *testing.T, h Harness) {
	for _, kind := range Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			for _, verb := range verbs() {
				t.Run(verb.name, func(t *testing.T) { runRules(t, h, kind, verb.rules) })
			}
			t.Run("Blocked", func(t *testing.T) { runBlocked(t, h, kind) })
		})
	}
	// These tests wait for leases to expire. One kind is enough, since kinds do not differ here.
	t.Run("Expiry", func(t *testing.T) { runRules(t, h, Kinds()[0], expiryRules()) })
}

func runRules(t *testing.T, h Harness, kind Kind, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			r.check(&env{T: t, Fixture: h.New(t, kind.Codec), kind: kind})
		})
	}
}
