package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// lister lists objects through one server: at once or in pages, all or by a selector, consistently
// or from a cache.
type lister struct {
	recorder  *Recorder
	resources map[string]resource
	random    *rand.Rand
	pause     time.Duration // maximum between two requests
}

// run lists until ctx ends.
func (l *lister) run(ctx context.Context) {
	for ctx.Err() == nil {
		l.list(ctx)
		l.rest(ctx)
	}
}

func (l *lister) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(l.random.Int64N(int64(l.pause) + 1))):
	}
}

// list sends one list with all of its pages.
func (l *lister) list(ctx context.Context) {
	r := l.resources[[]string{Secrets, Widgets}[l.random.IntN(2)]]
	selection := model.Selection{Scope: scope(r)}
	var opts metav1.ListOptions
	if l.random.IntN(3) == 0 {
		selection.Colour = colours[0]
		opts.LabelSelector = colour + "=" + colours[0]
	}
	recorded := model.List{Selection: selection}
	switch l.random.IntN(4) {
	case 0:
		recorded.Any, opts.ResourceVersion = true, "0"
	case 1, 2:
		opts.Limit = 1 + l.random.Int64N(3)
	}
	recorded.Call = l.recorder.Tick()
	for {
		p, err := l.page(ctx, r, opts)
		if err != nil {
			return
		}
		if recorded.Revision != 0 && p.revision != recorded.Revision {
			l.recorder.Fault(fmt.Errorf("%w: a list of revision %d continues at revision %d", model.ErrSnapshot, recorded.Revision, p.revision))
		}
		recorded.Revision = p.revision
		recorded.Versions = append(recorded.Versions, versions(r, p.objects)...)
		if p.more == "" {
			l.recorder.List(recorded)
			return
		}
		opts.Continue, opts.ResourceVersion = p.more, ""
		l.rest(ctx)
	}
}

// page requests a page again while the server fails, since a continue token outlives the server.
func (l *lister) page(ctx context.Context, r resource, opts metav1.ListOptions) (page, error) {
	for {
		p, err := r.list(ctx, opts)
		if err == nil || ctx.Err() != nil || opts.Continue == "" || outcomeOf(err) == Refused && apierrors.ReasonForError(err) != "" {
			return p, err
		}
		l.rest(ctx)
	}
}

func scope(r resource) string { return r.name() + "/" }

func versions(r resource, objects []Object) []model.Version {
	var all []model.Version
	for _, o := range objects {
		all = append(all, model.Version{Key: key(r, o.Name), Revision: o.Revision, Object: o.Model()})
	}
	return all
}
