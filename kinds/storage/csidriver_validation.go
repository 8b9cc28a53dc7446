package storage

import (
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	longestDriver = 63
	longestNodeID = 256
	shortestToken = 600     // seconds
	longestToken  = 1 << 32 // seconds
	shortestWait  = 10      // seconds between two updates of the allocatable volumes of a node
)

func validateDriverName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > longestDriver {
		errs = append(errs, field.TooLong(at, "", longestDriver))
	}
	return append(errs, kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

func validateDriver(d *storagev1.CSIDriver) field.ErrorList {
	spec := field.NewPath("spec")
	errs := slices.Concat(
		kind.SupportedIfSet(spec.Child("fsGroupPolicy"), d.Spec.FSGroupPolicy, storagev1.FileFSGroupPolicy,
			storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy),
		validateTokenRequests(d.Spec.TokenRequests, spec.Child("tokenRequests")),
	)
	for _, mode := range d.Spec.VolumeLifecycleModes {
		errs = append(errs, kind.Supported(spec.Child("volumeLifecycleModes"), mode,
			storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if n := d.Spec.NodeAllocatableUpdatePeriodSeconds; n != nil && *n < shortestWait {
		errs = append(errs, field.Invalid(spec.Child("nodeAllocatableUpdatePeriodSeconds"), *n, "must be greater than or equal to 10 seconds"))
	}
	if d.Spec.ServiceAccountTokenInSecrets != nil && len(d.Spec.TokenRequests) == 0 {
		errs = append(errs, field.Invalid(spec.Child("serviceAccountTokenInSecrets"), *d.Spec.ServiceAccountTokenInSecrets,
			"serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

// validateDriverUpdate reports a field under a path that does not exist, as kube-apiserver does.
func validateDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	return slices.Concat(
		validateDriver(d),
		kind.Immutable(field.NewPath("spec", "attachedRequired"), d.Spec.AttachRequired, old.Spec.AttachRequired),
		kind.Immutable(field.NewPath("spec", "volumeLifecycleModes"), d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes),
	)
}

func validateTokenRequests(requests []storagev1.TokenRequest, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	audiences := sets.New[string]()
	for i, r := range requests {
		at := at.Index(i)
		if audiences.Has(r.Audience) {
			errs = append(errs, field.Duplicate(at.Child("audience"), r.Audience))
			continue
		}
		audiences.Insert(r.Audience)
		switch n := r.ExpirationSeconds; {
		case n == nil:
		case *n < shortestToken:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration less than 10 minutes"))
		case *n > longestToken:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}
