package kinds

import (
	"slices"
	"sync"

	"github.com/miniapi/miniapi/kinds/admissionregistration"
	"github.com/miniapi/miniapi/kinds/apiextensions"
	"github.com/miniapi/miniapi/kinds/apiregistration"
	"github.com/miniapi/miniapi/kinds/apps"
	"github.com/miniapi/miniapi/kinds/authentication"
	"github.com/miniapi/miniapi/kinds/authorization"
	"github.com/miniapi/miniapi/kinds/autoscaling"
	"github.com/miniapi/miniapi/kinds/batch"
	"github.com/miniapi/miniapi/kinds/certificates"
	"github.com/miniapi/miniapi/kinds/coordination"
	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/discovery"
	"github.com/miniapi/miniapi/kinds/events"
	"github.com/miniapi/miniapi/kinds/flowcontrol"
	"github.com/miniapi/miniapi/kinds/networking"
	"github.com/miniapi/miniapi/kinds/node"
	"github.com/miniapi/miniapi/kinds/policy"
	"github.com/miniapi/miniapi/kinds/rbac"
	"github.com/miniapi/miniapi/kinds/resource"
	"github.com/miniapi/miniapi/kinds/scheduling"
	"github.com/miniapi/miniapi/kinds/storage"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the built-in resources in the order of discovery. All
// servers of a process share them; neither the slice nor what is in it may be
// written to.
func Resources() []*registry.Resource { return resources() }

var resources = sync.OnceValue(func() []*registry.Resource {
	return slices.Concat(
		core.Resources(),
		apiregistration.Resources(),
		apps.Resources(),
		events.Resources(),
		authentication.Resources(),
		authorization.Resources(),
		autoscaling.Resources(),
		batch.Resources(),
		certificates.Resources(),
		networking.Resources(),
		policy.Resources(),
		rbac.Resources(),
		storage.Resources(),
		admissionregistration.Resources(),
		apiextensions.Resources(),
		scheduling.Resources(),
		coordination.Resources(),
		node.Resources(),
		discovery.Resources(),
		resource.Resources(),
		flowcontrol.Resources(),
	)
})
