package traffic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// Informer is an informer of client-go for one resource at one server.
type Informer struct {
	name     string
	resource resource
	informer cache.SharedIndexInformer
	attempts *attempts
}

// newInformers returns informers of all resources.
func newInformers(server, url string, c Clients) ([]*Informer, error) {
	resources := c.resources()
	var all []*Informer
	for _, name := range []string{Secrets, Widgets} {
		i := &Informer{name: server + " " + name, resource: resources[name], attempts: &attempts{}}
		own, err := newClients(url, i.attempts.wrap)
		if err != nil {
			return nil, err
		}
		if name == Secrets {
			factory := informers.NewSharedInformerFactoryWithOptions(own.Typed, 0, informers.WithNamespace(Namespace))
			i.informer = factory.Core().V1().Secrets().Informer()
		} else {
			factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(own.Dynamic, 0, Namespace, nil)
			i.informer = factory.ForResource(widgetResource).Informer()
		}
		all = append(all, i)
	}
	return all, nil
}

// Name returns the server and the resource of the informer.
func (i *Informer) Name() string { return i.name }

func (i *Informer) run(ctx context.Context) { i.informer.RunWithContext(ctx) }

// maxComparisons is the number of comparisons after which an informer that has an open request is
// too late. They take 30 seconds and, on a busy machine, as long as the server needs for the lists.
const maxComparisons = int(30 * time.Second / retryEvery)

// CheckCache compares the cache of the informer with fresh lists until they are equal. There must
// be no concurrent writes. Comparisons while the informer waits before its next request do not
// count: client-go waits for up to a minute after several failed requests, such as requests for a
// resource whose definition is deleted, whatever the server does.
func (i *Informer) CheckCache(ctx context.Context) error {
	for compared := 0; ; {
		if i.attempts.open() {
			compared++
		}
		difference, err := i.compare(ctx)
		if err == nil && difference == nil {
			return nil
		}
		if compared > maxComparisons || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err, difference)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
}

// compare returns the difference between the cache and a fresh list, nil if they are equal.
func (i *Informer) compare(ctx context.Context) (difference, err error) {
	p, err := i.resource.list(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	fresh, cached := map[string]Object{}, map[string]Object{}
	for _, o := range p.objects {
		fresh[o.Name] = o
	}
	for _, entry := range i.informer.GetStore().List() {
		o, err := fromRuntime(entry.(runtime.Object))
		if err != nil {
			return nil, err
		}
		cached[o.Name] = o
	}
	if !maps.Equal(fresh, cached) {
		return fmt.Errorf("informer %s has %v, a list has %v; its last requests:\n%s", i.name, cached, fresh, i.attempts), nil
	}
	return nil, nil
}
