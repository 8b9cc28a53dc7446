package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// checkYAML returns a 400 for a body that is neither JSON nor YAML, or nested too deep, and a 413
// for one with too many aliases. As in kube-apiserver, a body that begins like a JSON object is
// decoded later.
func checkYAML(data []byte) error {
	if err := encoding.CheckDepth(data); err != nil || json.Valid(data) {
		return err
	}
	if err := encoding.CheckAliases(data); err != nil {
		return err
	}
	if _, err := yaml.YAMLToJSON(data); err != nil && !bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{")) {
		return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	return nil
}

// applyYAML merges the configuration of a server-side apply into the current state. As in
// kube-apiserver, duplicate keys are checked after the merge, and unknown fields are an error for
// every field validation.
func (p *patch) applyYAML(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	config, unique, err := decodeConfiguration(p.data)
	if err != nil {
		return nil, err
	}
	if err := p.call.server.responder.CheckQuantities(p.data, p.call.decodeOptions(metav1.FieldValidationIgnore)); err != nil {
		return nil, err
	}
	applied, err := p.applyConfiguration(ctx, current, config)
	if err != nil || unique || !p.validatesFields() {
		return applied, err
	}
	return applied, p.checkDuplicateKeys()
}

// applyConfiguration merges the decoded configuration of the request into the current state.
func (p *patch) applyConfiguration(ctx context.Context, current runtime.Object, config *unstructured.Unstructured) (runtime.Object, error) {
	if p.call.resource.Custom && !p.call.resourceKind() {
		text := "failed to convert new object (%s/%s; %s) to proper version: request to convert CR to an invalid group/version: %s"
		kind := p.call.kind()
		return nil, apierrors.NewBadRequest(fmt.Sprintf(text, config.GetNamespace(), config.GetName(), kind, kind.GroupVersion()))
	}
	return p.call.store.Apply(ctx, current, registry.ApplyRequest{
		Subresource: p.call.Subresource,
		Object:      config,
		Source:      p.data,
		Force:       p.options.force,
		Options:     p.options.WriteOptions,
	})
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
		return nil, false, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
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
