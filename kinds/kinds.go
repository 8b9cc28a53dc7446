package kinds

import (
	"slices"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

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
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/flowcontrol"
	"github.com/miniapi/miniapi/kinds/networking"
	"github.com/miniapi/miniapi/kinds/node"
	"github.com/miniapi/miniapi/kinds/policy"
	"github.com/miniapi/miniapi/kinds/rbac"
	"github.com/miniapi/miniapi/kinds/resource"
	"github.com/miniapi/miniapi/kinds/scheduling"
	"github.com/miniapi/miniapi/kinds/storage"
	"github.com/miniapi/miniapi/kinds/storagemigration"
	"github.com/miniapi/miniapi/registry"
)

// group is one built-in API group: its resources and the Go types of its versions.
type group struct {
	resources func(*feature.Set) []*registry.Resource
	types     schemes
}

type schemes = []func(*runtime.Scheme) error

// groups returns the built-in groups in the order of discovery.
func groups() []group {
	return []group{
		{core.Resources, schemes{corev1.AddToScheme}},
		{apiregistration.Resources, schemes{apiregistrationv1.AddToScheme}},
		{apps.Resources, schemes{appsv1.AddToScheme}},
		{events.Resources, schemes{eventsv1.AddToScheme}},
		{authentication.Resources, schemes{authenticationv1.AddToScheme}},
		{authorization.Resources, schemes{authorizationv1.AddToScheme}},
		{autoscaling.Resources, schemes{autoscalingv1.AddToScheme, autoscalingv2.AddToScheme}},
		{batch.Resources, schemes{batchv1.AddToScheme}},
		{certificates.Resources, schemes{certificatesv1.AddToScheme}},
		{networking.Resources, schemes{networkingv1.AddToScheme}},
		{policy.Resources, schemes{policyv1.AddToScheme, addOldEviction}},
		{rbac.Resources, schemes{rbacv1.AddToScheme}},
		{storage.Resources, schemes{storagev1.AddToScheme}},
		{admissionregistration.Resources, schemes{admissionregistrationv1.AddToScheme}},
		{apiextensions.Resources, schemes{apiextensionsv1.AddToScheme}},
		{scheduling.Resources, schemes{schedulingv1.AddToScheme}},
		{coordination.Resources, schemes{coordinationv1.AddToScheme}},
		{node.Resources, schemes{nodev1.AddToScheme}},
		{discovery.Resources, schemes{discoveryv1.AddToScheme}},
		{resource.Resources, schemes{resourcev1.AddToScheme}},
		{flowcontrol.Resources, schemes{flowcontrolv1.AddToScheme}},
		{storagemigration.Resources, schemes{storagemigrationv1.AddToScheme}},
	}
}

// Resources returns the resources that are built in with the features, in the order of discovery.
// All servers of a process with equal features share them; neither the slice nor its elements may
// be written to.
func Resources(features *feature.Set) []*registry.Resource {
	build, _ := built.LoadOrStore(features.String(), sync.OnceValue(func() []*registry.Resource {
		var list []*registry.Resource
		for _, g := range groups() {
			list = append(list, g.resources(features)...)
		}
		return slices.DeleteFunc(list, func(r *registry.Resource) bool { return r == nil })
	}))
	return build.(func() []*registry.Resource)()
}

// built has a function that builds the resources once, by the text of their features.
var built sync.Map
