package apiregistration

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The highest priorities of a group and of a version.
const (
	highestGroup   = 20000
	highestVersion = 1000
)

func validateAPIService(s *apiregistrationv1.APIService) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateServiceName(s),
		validateGroup(s.Spec.Group, s.Spec.Version, spec.Child("group")),
		kind.Invalid(spec.Child("version"), s.Spec.Version, utilvalidation.IsDNS1035Label(s.Spec.Version)),
		validatePriority(s.Spec.GroupPriorityMinimum, highestGroup, spec.Child("groupPriorityMinimum"), "must be positive and less than 20000"),
		validatePriority(s.Spec.VersionPriority, highestVersion, spec.Child("versionPriority"), "must be positive and less than 1000"),
		validateBackend(&s.Spec, spec),
	)
}

// validateServiceName requires the name <version>.<group> for a name that has that form.
func validateServiceName(s *apiregistrationv1.APIService) field.ErrorList {
	want := s.Spec.Version + "." + s.Spec.Group
	if s.Name == "" || s.Name == want || len(content.IsPathSegmentName(s.Name)) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), s.Name, "must be `spec.version+\".\"+spec.group`: \""+want+"\"")}
}

func validateGroup(group, version string, at *field.Path) field.ErrorList {
	switch {
	case group != "":
		return kind.Invalid(at, group, utilvalidation.IsDNS1123Subdomain(group))
	case version != "v1":
		return field.ErrorList{field.Required(at, "only v1 may have an empty group and it better be legacy kube")}
	}
	return nil
}

func validatePriority(n, highest int32, at *field.Path, message string) field.ErrorList {
	if n > 0 && n <= highest {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, message)}
}

// validateBackend rejects a CA bundle that has no effect.
func validateBackend(s *apiregistrationv1.APIServiceSpec, at *field.Path) field.ErrorList {
	bundle, insecure := at.Child("caBundle"), at.Child("insecureSkipTLSVerify")
	var errs field.ErrorList
	if s.Service == nil {
		if n := len(s.CABundle); n > 0 {
			errs = append(errs, field.Invalid(bundle, fmt.Sprintf("%d bytes", n), "local APIServices may not have a caBundle"))
		}
		if s.InsecureSkipTLSVerify {
			errs = append(errs, field.Invalid(insecure, true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return errs
	}
	service := at.Child("service")
	errs = slices.Concat(
		kind.Required(service.Child("namespace"), s.Service.Namespace),
		kind.Required(service.Child("name"), s.Service.Name),
	)
	port := ptr.Deref(s.Service.Port, 0)
	if messages := utilvalidation.IsValidPortNum(int(port)); len(messages) > 0 {
		errs = append(errs, field.Invalid(service.Child("port"), port, "port is not valid: "+strings.Join(messages, ", ")))
	}
	if s.InsecureSkipTLSVerify && len(s.CABundle) > 0 {
		errs = append(errs, field.Invalid(insecure, true, "may not be true if caBundle is present"))
	}
	return errs
}

func validateServiceStatus(s, _ *apiregistrationv1.APIService) field.ErrorList {
	var errs field.ErrorList
	for i, c := range s.Status.Conditions {
		errs = append(errs, kind.Supported(field.NewPath("status", "conditions").Index(i).Child("status"), c.Status,
			apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown)...)
	}
	return errs
}
