package plugin

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/registry"
)

// AlwaysDeny rejects every request, reviews and deletions included.
func AlwaysDeny() registry.AdmissionStep {
	deny := func(_ context.Context, a *registry.Attributes) error {
		return forbidden(a, errors.New("admission control is denying all modifications"))
	}
	return registry.AdmissionStep{Name: "AlwaysDeny", Admit: deny, Validate: deny}
}
