package upstreamstorage

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	suite "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
)

// root is a prefix of all keys; the suite does not see it.
const root = "/registry"

var errSynthetic = errors.New("synthetic error")

// podCodec encodes internal Pods as JSON of version v1. While failing is set, Decode returns an
// error.
type podCodec struct {
	codec   runtime.Codec
	failing atomic.Bool
}

func newPodCodec() *podCodec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return &podCodec{codec: serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)}
}

func (c *podCodec) Encode(obj runtime.Object) ([]byte, error) { return runtime.Encode(c.codec, obj) }

func (c *podCodec) Decode(data []byte) (runtime.Object, error) {
	if c.failing.Load() {
		return nil, errSynthetic
	}
	return runtime.Decode(c.codec, data)
}

// transformer wraps a transformer of upstream, which a case can exchange while the store is in use.
type transformer struct {
	failing atomic.Bool

	mu      sync.RWMutex
	current value.Transformer // guarded by mu
}

func newTransformer() *transformer {
	return &transformer{current: suite.NewPrefixTransformer([]byte("test!"), false)}
}

func (t *transformer) get() value.Transformer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.current
}

// exchange replaces the current transformer by the result of modify and returns a function that
// restores it. modify runs while no other call uses the transformer, so it may copy it.
func (t *transformer) exchange(modify func(current value.Transformer) value.Transformer) (revert func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	former := t.current
	t.current = modify(former)
	return func() { t.exchange(func(value.Transformer) value.Transformer { return former }) }
}

// ToStorage implements transform.Transformer.
func (t *transformer) ToStorage(ctx context.Context, data []byte, key string) ([]byte, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.current.TransformToStorage(ctx, data, authenticated(key))
}

// FromStorage implements transform.Transformer.
func (t *transformer) FromStorage(ctx context.Context, data []byte, key string) ([]byte, bool, error) {
	if t.failing.Load() {
		return nil, false, errSynthetic
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.current.TransformFromStorage(ctx, data, authenticated(key))
}

func authenticated(key string) value.Context {
	return value.DefaultContext(strings.TrimPrefix(key, root))
}

// UpdatePrefixTransformer implements suite.InterfaceWithPrefixTransformer.
func (a *adapter) UpdatePrefixTransformer(modify suite.PrefixTransformerModifier) func() {
	return a.transformer.exchange(func(current value.Transformer) value.Transformer {
		copied := *current.(*suite.PrefixTransformer)
		return modify(&copied)
	})
}

// UpdateTransformer implements suite.InterfaceWithTransformerOverride.
func (a *adapter) UpdateTransformer(modify suite.TransformerModifier) func() {
	return a.transformer.exchange(modify)
}
