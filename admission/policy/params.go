package policy

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// checkParamKind returns an error if the kind of the params is not served.
func checkParamKind(catalog *registry.Catalog, kind *admissionregistrationv1.ParamKind) error {
	if kind == nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	if _, _, ok := match.OfKind(catalog, gvk); !ok {
		return fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
	}
	return nil
}

// findParams returns the params of a binding, in the version that its policy names. Without
// params the result is a single nil. If no object is found, the result is empty, or an error if
// the binding says so.
func findParams(ctx context.Context, r *match.Request, kind *admissionregistrationv1.ParamKind, ref *admissionregistrationv1.ParamRef) ([]runtime.Object, error) {
	if kind == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	reader, target, ok := match.OfKind(r.Catalog, schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if !ok {
		return nil, fmt.Errorf("paramKind kind `%v` not known", kind.String())
	}
	namespace, err := paramNamespace(reader.Resource(), r, ref)
	if err != nil {
		return nil, err
	}
	entries, err := readParams(ctx, reader, namespace, ref)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionregistrationv1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	params := make([]runtime.Object, len(entries))
	for i, entry := range entries {
		obj, err := entry.Object()
		if err != nil {
			return nil, err
		}
		if params[i], err = target.Show(obj); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// paramNamespace returns the namespace that the binding names, or else the namespace of the
// request.
func paramNamespace(resource *registry.Resource, r *match.Request, ref *admissionregistrationv1.ParamRef) (string, error) {
	switch {
	case !resource.Namespaced && ref.Namespace != "":
		return "", errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !resource.Namespaced:
		return "", nil
	case ref.Namespace != "":
		return ref.Namespace, nil
	case r.Namespace == "":
		return "", errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	return r.Namespace, nil
}

func readParams(ctx context.Context, reader registry.Reader, namespace string, ref *admissionregistrationv1.ParamRef) ([]*storage.Entry, error) {
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case ref.Name != "":
		entry, err := reader.Get(ctx, namespace, ref.Name, "")
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return []*storage.Entry{entry}, err
	case ref.Selector == nil:
		return nil, errors.New("one of name or selector must be provided")
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	page, err := reader.List(ctx, registry.ListRequest{Namespace: namespace, Label: selector})
	if err != nil {
		return nil, err
	}
	return page.Entries, nil
}
