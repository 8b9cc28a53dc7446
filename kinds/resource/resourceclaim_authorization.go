package resource

import (
	"context"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// Hooks returns the hooks of resource claims and their templates, which validate rules that depend
// on the namespace and on the user.
func Hooks() map[schema.GroupResource]registry.Hooks {
	return map[schema.GroupResource]registry.Hooks{
		resourcev1.Resource("resourceclaims"):         {Validate: validateClaimAccess},
		resourcev1.Resource("resourceclaimtemplates"): {Validate: validateTemplateAccess},
	}
}

func validateTemplateAccess(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	if v.Old != nil { // the spec is immutable
		return errs
	}
	template := v.Obj.(*resourcev1.ResourceClaimTemplate)
	at := adminRequest(template.Spec.Spec.Devices.Requests)
	return append(validateAdminAccess(ctx, v.Catalog, template.Namespace, at), errs...)
}

func validateClaimAccess(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	claim := v.Obj.(*resourcev1.ResourceClaim)
	switch {
	case v.Old == nil:
		at := adminRequest(claim.Spec.Devices.Requests)
		return append(validateAdminAccess(ctx, v.Catalog, claim.Namespace, at), errs...)
	case v.Subresource != "status": // the spec is immutable
		return errs
	}
	old := v.Old.(*resourcev1.ResourceClaim)
	write := statusWrite{Validation: v, claim: claim, old: old}
	return slices.Concat(write.validateAdminAccess(ctx), write.authorizeBinding(ctx), write.authorizeDevices(ctx), errs)
}

// adminRequest returns the path of the first request for access as an administrator, nil if
// there is none.
func adminRequest(requests []resourcev1.DeviceRequest) *field.Path {
	i := slices.IndexFunc(requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && ptr.Deref(r.Exactly.AdminAccess, false)
	})
	if i < 0 {
		return nil
	}
	return field.NewPath("spec", "devices", "requests").Index(i).Child("adminAccess")
}

// adminResult is adminRequest for an allocation, which may be nil.
func adminResult(allocation *resourcev1.AllocationResult) *field.Path {
	if allocation == nil {
		return nil
	}
	i := slices.IndexFunc(allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return ptr.Deref(r.AdminAccess, false)
	})
	if i < 0 {
		return nil
	}
	return field.NewPath("status", "allocation", "devices", "results").Index(i).Child("adminAccess")
}

// validateAdminAccess allows the field at a path in a namespace with the label for it. at may
// be nil.
func validateAdminAccess(ctx context.Context, lookup registry.Lookup, namespace string, at *field.Path) field.ErrorList {
	if at == nil {
		return nil
	}
	labels, err := namespaceLabels(ctx, lookup, namespace)
	if err != nil {
		return field.ErrorList{field.InternalError(at, fmt.Errorf("could not retrieve namespace to verify admin access: %w", err))}
	}
	if labels[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
		return field.ErrorList{field.Forbidden(at, fmt.Sprintf(
			"admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey))}
	}
	return nil
}

func namespaceLabels(ctx context.Context, lookup registry.Lookup, name string) (map[string]string, error) {
	namespaces, err := registry.Require(lookup, corev1.Resource("namespaces"))
	if err != nil {
		return nil, err
	}
	namespace, err := registry.Read[*corev1.Namespace](ctx, namespaces, "", name, "")
	if err != nil {
		return nil, err
	}
	return namespace.Labels, nil
}

// statusWrite is a write of a claim's status.
type statusWrite struct {
	registry.Validation
	claim, old *resourcev1.ResourceClaim
}

func (w *statusWrite) validateAdminAccess(ctx context.Context) field.ErrorList {
	if adminResult(w.old.Status.Allocation) != nil { // an allocation is immutable
		return nil
	}
	return validateAdminAccess(ctx, w.Catalog, w.claim.Namespace, adminResult(w.claim.Status.Allocation))
}

// authorizeBinding requires the verb of the request on resourceclaims/binding, in the whole
// cluster, to allocate and to reserve.
func (w *statusWrite) authorizeBinding(ctx context.Context) field.ErrorList {
	if equality.Semantic.DeepEqual(w.claim.Status.Allocation, w.old.Status.Allocation) &&
		equality.Semantic.DeepEqual(w.claim.Status.ReservedFor, w.old.Status.ReservedFor) {
		return nil
	}
	err := w.authorize(ctx, authorizationv1.ResourceAttributes{Verb: w.Verb, Subresource: resourcev1.SubresourceBinding})
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("status", "allocation"), fmt.Sprintf(
		`changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="%s" permission: %s`, w.Verb, err))}
}

// authorizeDevices requires a verb on resourceclaims/driver for each driver whose device status
// changes. Service accounts on the node of the claim may use the verbs for that node.
func (w *statusWrite) authorizeDevices(ctx context.Context) field.ErrorList {
	if w.claim.Status.Allocation == nil {
		return nil
	}
	verbs := []string{resourcev1.VerbPrefixArbitraryNode + w.Verb}
	if isOnNode(registry.UserFrom(ctx), nodeOf(w.claim.Status.Allocation)) {
		verbs = slices.Insert(verbs, 0, resourcev1.VerbPrefixAssociatedNode+w.Verb)
	}
	var errs field.ErrorList
	for _, driver := range sets.List(changedDrivers(w.claim.Status.Devices, w.old.Status.Devices)) {
		if err := w.authorizeDriver(ctx, driver, verbs); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("status", "devices"), fmt.Sprintf(
				`changing status.devices requires resource="resourceclaims/driver", verb="%s" permission: %s`, verbs, err)))
		}
	}
	return errs
}

// authorizeDriver requires one of the verbs. It returns the error of the first verb.
func (w *statusWrite) authorizeDriver(ctx context.Context, driver string, verbs []string) error {
	var first error
	for _, verb := range verbs {
		err := w.authorize(ctx, authorizationv1.ResourceAttributes{
			Verb: verb, Subresource: resourcev1.SubresourceDriver, Namespace: w.claim.Namespace, Name: driver,
		})
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (w *statusWrite) authorize(ctx context.Context, wanted authorizationv1.ResourceAttributes) error {
	wanted.Group, wanted.Version, wanted.Resource = resourcev1.GroupName, resourcev1.SchemeGroupVersion.Version, "resourceclaims"
	return registry.Authorize(ctx, w.Catalog.Authorizer(), registry.Access{User: registry.UserFrom(ctx), Resource: &wanted})
}

// changedDrivers returns the drivers of the devices whose status is new, changed or removed.
func changedDrivers(devices, old []resourcev1.AllocatedDeviceStatus) sets.Set[string] {
	before := map[device]resourcev1.AllocatedDeviceStatus{}
	for _, d := range old {
		before[deviceOf(d)] = d
	}
	drivers := sets.New[string]()
	for _, d := range devices {
		known, ok := before[deviceOf(d)]
		delete(before, deviceOf(d))
		if !ok || !equality.Semantic.DeepEqual(known, d) {
			drivers.Insert(d.Driver)
		}
	}
	for id := range before {
		drivers.Insert(id.Driver)
	}
	return drivers
}

// nodeOf returns the name of the only node that an allocation selects, "" if it does not select
// one node by name.
func nodeOf(allocation *resourcev1.AllocationResult) string {
	if allocation.NodeSelector == nil || len(allocation.NodeSelector.NodeSelectorTerms) != 1 {
		return ""
	}
	term := allocation.NodeSelector.NodeSelectorTerms[0]
	if len(term.MatchExpressions) > 0 || len(term.MatchFields) != 1 {
		return ""
	}
	by := term.MatchFields[0]
	if by.Key != "metadata.name" || by.Operator != corev1.NodeSelectorOpIn || len(by.Values) != 1 {
		return ""
	}
	return by.Values[0]
}

// isOnNode reports whether a user is a service account whose token is bound to a node.
func isOnNode(user *authenticationv1.UserInfo, node string) bool {
	if user == nil || node == "" || len(validation.NameIsDNSSubdomain(node, false)) > 0 {
		return false
	}
	if _, _, err := serviceaccount.SplitUsername(user.Username); err != nil {
		return false
	}
	nodes := user.Extra[serviceaccount.NodeNameKey]
	return len(nodes) == 1 && nodes[0] == node
}
