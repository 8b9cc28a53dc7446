package api

import (
	"bytes"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/registry"
)

// applyConfiguration merges the configuration of a server-side apply into the current state. As in
// kube-apiserver, duplicate keys are checked after the merge, and unknown fields are an error for
// every field validation.
func (p *patch) applyConfiguration(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	config, unique, err := decodeConfiguration(p.data)
	if err != nil {
		return nil, err
	}
	applied, err := p.call.store.Apply(ctx, current, registry.ApplyRequest{
		Subresource: p.call.Subresource,
		Object:      config,
		Source:      p.data,
		Force:       p.options.force,
		Options:     p.options.WriteOptions,
	})
	if err != nil || unique || !p.validatesFields() {
		return applied, err
	}
	return applied, p.checkDuplicateKeys()
}

// decodeConfiguration decodes YAML; input that is JSON takes a faster path. unique reports whether
// the input is JSON without duplicate keys.
func decodeConfiguration(data []byte) (config *unstructured.Unstructured, unique bool, err error) {
	config = &unstructured.Unstructured{}
	if bytes.HasPrefix(data, []byte("{")) {
		strictErrs, err := kjson.UnmarshalStrict(data, &config.Object)
		if err == nil {
			return config, len(strictErrs) == 0, nil
		}
	}
	config.Object = map[string]any{}
	if err := yaml.Unmarshal(data, &config.Object); err != nil {
		return nil, false, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	return config, false, nil
}

// checkDuplicateKeys returns or warns of duplicate keys in a configuration.
func (p *patch) checkDuplicateKeys() error {
	err := yaml.UnmarshalStrict(p.data, &map[string]any{})
	switch {
	case err == nil:
		return nil
	case p.options.fieldValidation == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
	}
	p.call.warnOfFields([]error{err})
	return nil
}
