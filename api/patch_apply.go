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

// applyConfiguration merges what a server-side apply says an object should be.
// Duplicate keys are looked for after everything else; what the kind does not
// know is no question of validation here, and always refused.
func (p *patch) applyConfiguration(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	config, clean, err := decodeConfiguration(p.data)
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
	if err != nil || clean || !p.strict() {
		return applied, err
	}
	return applied, p.refuseDuplicates()
}

// decodeConfiguration reads YAML, and JSON much faster. clean says that it is
// JSON in which no key comes twice.
func decodeConfiguration(data []byte) (config *unstructured.Unstructured, clean bool, err error) {
	config = &unstructured.Unstructured{}
	if bytes.HasPrefix(data, []byte("{")) {
		odd, err := kjson.UnmarshalStrict(data, &config.Object)
		if err == nil {
			return config, len(odd) == 0, nil
		}
	}
	config.Object = map[string]any{}
	if err := yaml.Unmarshal(data, &config.Object); err != nil {
		return nil, false, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	return config, false, nil
}

func (p *patch) refuseDuplicates() error {
	err := yaml.UnmarshalStrict(p.data, &map[string]any{})
	switch {
	case err == nil:
		return nil
	case p.options.validation == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
	}
	p.call.warnOfFields([]error{err})
	return nil
}
