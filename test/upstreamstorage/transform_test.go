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

	mu      sync.Mutex // guards the fields below
	current value.Transformer
	calls   int       // of the current transformer, in progress
	idle    sync.Cond // signals that there are none
}

func newTransformer() *transformer {
	t := &transformer{current: suite.NewPrefixTransformer([]byte("test!"), false)}
	t.idle.L = &t.mu
	return t
}

func (t *transformer) get() value.Transformer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// begin returns the current transformer for a call. The caller calls end after it. A transformer of
// the suite writes objects while it reads one, so a call may begin during another one although
// exchange waits for both.
func (t *transformer) begin() value.Transformer {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	return t.current
}

func (t *transformer) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls--
	t.idle.Broadcast()
}

// exchange replaces the current transformer by the result of modify and returns a function that
// restores it. modify runs while no other call uses the transformer, so it may copy it.
func (t *transformer) exchange(modify func(current value.Transformer) value.Transformer) (revert func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.calls > 0 {
		t.idle.Wait()
	}
	former := t.current
	t.current = modify(former)
	return func() { t.exchange(func(value.Transformer) value.Transformer { return former }) }
}

// ToStorage implements transform.Transformer.
func (t *transformer) ToStorage(ctx context.Context, data []byte, key string) ([]byte, error) {
	defer t.end()
	return t.begin().TransformToStorage(ctx, data, authenticated(key))
}

// FromStorage implements transform.Transformer.
func (t *transformer) FromStorage(ctx context.Context, data []byte, key string) ([]byte, bool, error) {
	if t.failing.Load() {
		return nil, false, errSynthetic
	}
	defer t.end()
	return t.begin().TransformFromStorage(ctx, data, authenticated(key))
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
