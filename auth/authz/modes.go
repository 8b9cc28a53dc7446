package authz

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/miniapi/miniapi/internal/suggest"
)

// The authorization modes, named as in kube-apiserver.
const (
	ModeAlwaysAllow = "AlwaysAllow"
	ModeAlwaysDeny  = "AlwaysDeny"
	ModeRBAC        = "RBAC"
	ModeNode        = "Node"
	ModeWebhook     = "Webhook"
)

var knownModes = []string{ModeAlwaysAllow, ModeAlwaysDeny, ModeRBAC, ModeNode, ModeWebhook}

// Modes is a comma-separated list of authorization modes.
type Modes string

func (m Modes) list() []string { return strings.Split(string(m), ",") }

// Has reports whether the list contains a mode.
func (m Modes) Has(mode string) bool { return slices.Contains(m.list(), mode) }

// Validate returns the errors of all modes in the list, joined.
func (m Modes) Validate() error {
	var errs []error
	modes := m.list()
	for i, mode := range modes {
		switch {
		case slices.Contains(modes[:i], mode):
			errs = append(errs, fmt.Errorf("authorization mode %q occurs twice in %q: remove one", mode, m))
		case slices.Contains(knownModes, mode):
		case mode == "ABAC":
			errs = append(errs, fmt.Errorf("authorization mode %q is not supported: use %s, and grant rights by roles", mode, ModeRBAC))
		default:
			last := len(knownModes) - 1
			errs = append(errs, fmt.Errorf("authorization mode %q is unknown: use %s or %s%s", mode, strings.Join(knownModes[:last], ", "), knownModes[last], suggest.DidYouMean(mode, knownModes)))
		}
	}
	return errors.Join(errs...)
}
