package miniapi

import (
	"context"
	"testing"

	"github.com/miniapi/miniapi/internal/bootstrap"
)

// The identity lease belongs to the full bootstrap and to the gate APIServerIdentity.
func TestIdentityLeaseIsOptional(t *testing.T) {
	cases := map[string]struct {
		config Config
		want   bool
	}{
		"full":    {Config{Bootstrap: bootstrap.Full}, true},
		"minimal": {Config{}, false},
		"gate is disabled": {Config{Bootstrap: bootstrap.Full, FeatureGates: map[string]bool{
			"APIServerIdentity": false, "UnknownVersionInteroperabilityProxy": false, // the second requires the first
		}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, err := Start(t.Context(), c.config)
			if err != nil {
				t.Fatal(err)
			}
			if got := server.identityLease != nil; got != c.want {
				t.Errorf("identity lease: %v, want %v", got, c.want)
			}
			if err := server.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
