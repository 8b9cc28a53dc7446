package traffic

import (
	"context"
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// secrets is the client of Secrets.
type secrets struct{ client typedcorev1.SecretInterface }

func (secrets) name() string { return Secrets }

func (s secrets) get(ctx context.Context, name string, opts metav1.GetOptions) (Object, error) {
	return ofSecret(s.client.Get(ctx, name, opts))
}

func (s secrets) list(ctx context.Context, opts metav1.ListOptions) (page, error) {
	list, err := s.client.List(ctx, opts)
	if err != nil {
		return page{}, err
	}
	p := page{more: list.Continue}
	if p.revision, err = strconv.ParseInt(list.ResourceVersion, 10, 64); err != nil {
		return page{}, err
	}
	for i := range list.Items {
		o, err := fromRuntime(&list.Items[i])
		if err != nil {
			return page{}, err
		}
		p.objects = append(p.objects, o)
	}
	return p, nil
}

func (s secrets) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return s.client.Watch(ctx, opts)
}

func (s secrets) create(ctx context.Context, o Object) (Object, error) {
	return ofSecret(s.client.Create(ctx, secret(o), metav1.CreateOptions{}))
}

func (s secrets) update(ctx context.Context, o Object) (Object, error) {
	return ofSecret(s.client.Update(ctx, secret(o), metav1.UpdateOptions{}))
}

func (s secrets) patch(ctx context.Context, name, written string) (Object, error) {
	body, err := json.Marshal(map[string]any{"data": map[string][]byte{value: []byte(written)}})
	if err != nil {
		return Object{}, err
	}
	return ofSecret(s.client.Patch(ctx, name, secretPatch, body, metav1.PatchOptions{}))
}

func (s secrets) apply(ctx context.Context, o Object, manager string) (Object, error) {
	applied := secret(o)
	applied.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	body, err := json.Marshal(applied)
	if err != nil {
		return Object{}, err
	}
	return ofSecret(s.client.Patch(ctx, o.Name, types.ApplyPatchType, body, applyOptions(manager)))
}

func (s secrets) delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return s.client.Delete(ctx, name, opts)
}

func secret(o Object) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: o.meta(), Data: map[string][]byte{value: []byte(o.Value)}}
}

func ofSecret(s *corev1.Secret, err error) (Object, error) {
	if err != nil {
		return Object{}, err
	}
	return fromRuntime(s)
}
