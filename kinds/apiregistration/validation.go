package apiregistration

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func validate(_ context.Context, obj runtime.Object) field.ErrorList {
	service := obj.(*apiregistrationv1.APIService)
	spec := field.NewPath("spec")
	faults := validateName(service)
	faults = append(faults, validateGroupVersion(service, spec)...)
	if p := service.Spec.GroupPriorityMinimum; p <= 0 || p > 20000 {
		faults = append(faults, field.Invalid(spec.Child("groupPriorityMinimum"), p, "must be positive and less than 20000"))
	}
	if p := service.Spec.VersionPriority; p <= 0 || p > 1000 {
		faults = append(faults, field.Invalid(spec.Child("versionPriority"), p, "must be positive and less than 1000"))
	}
	if service.Spec.Service == nil {
		return append(faults, validateLocal(service, spec)...)
	}
	return append(faults, validateRemote(service, spec)...)
}

func validateUpdate(ctx context.Context, obj, _ runtime.Object) field.ErrorList {
	return validate(ctx, obj)
}

// validateName: what is wrong with the name by itself is said elsewhere.
func validateName(service *apiregistrationv1.APIService) field.ErrorList {
	want := service.Spec.Version + "." + service.Spec.Group
	if service.Name == "" || service.Name == want || len(path.IsValidPathSegmentName(service.Name)) > 0 {
		return nil
	}
	text := fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want)
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), service.Name, text)}
}

func validateGroupVersion(service *apiregistrationv1.APIService, spec *field.Path) (faults field.ErrorList) {
	group, version := service.Spec.Group, service.Spec.Version
	if group == "" && version != "v1" {
		faults = append(faults, field.Required(spec.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	}
	if group != "" {
		for _, text := range validation.IsDNS1123Subdomain(group) {
			faults = append(faults, field.Invalid(spec.Child("group"), group, text))
		}
	}
	for _, text := range validation.IsDNS1035Label(version) {
		faults = append(faults, field.Invalid(spec.Child("version"), version, text))
	}
	return faults
}

func validateLocal(service *apiregistrationv1.APIService, spec *field.Path) (faults field.ErrorList) {
	if bundle := service.Spec.CABundle; len(bundle) > 0 {
		faults = append(faults, field.Invalid(spec.Child("caBundle"), fmt.Sprintf("%d bytes", len(bundle)), "local APIServices may not have a caBundle"))
	}
	if service.Spec.InsecureSkipTLSVerify {
		faults = append(faults, field.Invalid(spec.Child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"))
	}
	return faults
}

func validateRemote(service *apiregistrationv1.APIService, spec *field.Path) (faults field.ErrorList) {
	ref, at := service.Spec.Service, spec.Child("service")
	if ref.Namespace == "" {
		faults = append(faults, field.Required(at.Child("namespace"), ""))
	}
	if ref.Name == "" {
		faults = append(faults, field.Required(at.Child("name"), ""))
	}
	if ref.Port != nil {
		if texts := validation.IsValidPortNum(int(*ref.Port)); texts != nil {
			faults = append(faults, field.Invalid(at.Child("port"), *ref.Port, "port is not valid: "+strings.Join(texts, ", ")))
		}
	}
	if service.Spec.InsecureSkipTLSVerify && len(service.Spec.CABundle) > 0 {
		faults = append(faults, field.Invalid(spec.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"))
	}
	return faults
}

func validateStatus(_ context.Context, obj, _ runtime.Object) (faults field.ErrorList) {
	for i, condition := range obj.(*apiregistrationv1.APIService).Status.Conditions {
		switch condition.Status {
		case apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown:
		default:
			faults = append(faults, field.NotSupported(field.NewPath("status", "conditions").Index(i).Child("status"), condition.Status,
				[]apiregistrationv1.ConditionStatus{apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown}))
		}
	}
	return faults
}
