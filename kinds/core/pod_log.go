package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

func podLog() registry.Subresource {
	return registry.Subresource{Name: "log", Verbs: []string{"get"}, Connect: connectLog}
}

// connectLog returns nil for a pod without a node: its log is empty.
func connectLog(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	options, err := logOptions(req.Query)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if errs := validateLogOptions(options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, req.Name, errs)
	}
	pod, err := registry.Read[*corev1.Pod](ctx, store, req.Namespace, req.Name, "")
	if err != nil {
		return err
	}
	container, err := pickContainer(pod, req.Query)
	if err != nil || pod.Spec.NodeName == "" {
		return err
	}
	address, err := hostAddress(ctx, store.Catalog(), pod)
	if err != nil {
		return err
	}
	return fmt.Errorf("Get \"https://%s/containerLogs/%s/%s/%s\": %s", address, pod.Namespace, pod.Name, container, refused(address))
}

// logOptions returns the parameters of a log that can be invalid.
func logOptions(query map[string][]string) (*corev1.PodLogOptions, error) {
	options := &corev1.PodLogOptions{}
	for name, number := range map[string]**int64{
		"limitBytes": &options.LimitBytes, "sinceSeconds": &options.SinceSeconds, "tailLines": &options.TailLines,
	} {
		values := query[name]
		if err := runtime.Convert_Slice_string_To_Pointer_int64(&values, number, nil); err != nil {
			return nil, err
		}
	}
	if values, ok := query["sinceTime"]; ok {
		if err := metav1.Convert_Slice_string_To_Pointer_v1_Time(&values, &options.SinceTime, nil); err != nil {
			return nil, err
		}
	}
	if values := query["stream"]; len(values) > 0 {
		options.Stream = &values[0]
	}
	return options, nil
}

func validateLogOptions(o *corev1.PodLogOptions) field.ErrorList {
	var errs field.ErrorList
	if n := o.TailLines; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *n, "must be greater than or equal to 0"))
	}
	errs = append(errs, validatePositive(o.LimitBytes, "limitBytes")...)
	if o.SinceSeconds != nil && o.SinceTime != nil {
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	} else {
		errs = append(errs, validatePositive(o.SinceSeconds, "sinceSeconds")...)
	}
	if o.Stream != nil {
		errs = append(errs, field.Forbidden(field.NewPath("stream"), "may not be specified"))
	}
	return errs
}

func validatePositive(n *int64, name string) field.ErrorList {
	if n == nil || *n > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), *n, "must be greater than 0")}
}
