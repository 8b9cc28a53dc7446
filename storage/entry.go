package storage

import (
	"context"
	"errors"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
)

// Entry is one version of one object.
//
// Invariant: an entry never changes after it is published, and neither does
// its object. Entries are safe for concurrent use and may be shared.
type Entry struct {
	// Key under which it is stored, without the implementation's prefix.
	Key string
	// Revision of its last write (ModRevision); in a Deleted event and in the
	// result of a deletion the revision of the deletion; 0 in a dry-run create.
	Revision int64

	data    []byte
	decoder *Decoder
	slots   atomic.Pointer[slot] // what was made of data, a list
	stamped atomic.Pointer[Stamped]
	attrs   atomic.Pointer[attributes]
}

// Decoder makes entries of the bytes at rest. All entries of a resource share
// one.
type Decoder struct {
	// Decode returns the object of data, stamped with revision. An error wraps
	// ErrCorrupt, or ErrUnavailable if ctx has ended, or a Status that clients are to see.
	Decode func(ctx context.Context, key string, revision int64, data []byte) (runtime.Object, error)
	// Message returns the protobuf message within data: the object's own, but
	// without a resourceVersion. False where there is none, or where decoding
	// would make something else of it. Nil: never.
	Message func(data []byte) ([]byte, bool)
	// corrupt is set once bytes could not be decoded. Decoders made by With share
	// it. Nil: never.
	corrupt *atomic.Bool
	// Memo keeps what is made of the entries. It is for entries that many
	// readers find. Nil: an entry keeps its object, once that was asked for,
	// and no bodies, which suits entries that one reader has for itself.
	Memo *Memo
}

// With returns the same decoder for entries which share a memo.
func (d *Decoder) With(memo *Memo) *Decoder {
	shared := *d
	shared.Memo = memo
	return &shared
}

// Entry returns the entry of data, which must not be written to any more. It is
// decoded when its object is first asked for.
func (d *Decoder) Entry(key string, revision int64, data []byte) *Entry {
	return &Entry{Key: key, Revision: revision, data: data, decoder: d}
}

// NewEntry returns the entry of an object that is not stored as bytes: make
// returns it, already stamped with revision, when it is first asked for.
func NewEntry(key string, revision int64, make func() (runtime.Object, error)) *Entry {
	d := &Decoder{Decode: func(context.Context, string, int64, []byte) (runtime.Object, error) { return make() }}
	return d.Entry(key, revision, nil)
}

// Object returns the decoded object, which must not be written to. An error
// means that the stored bytes cannot be read: see Decoder.
func (e *Entry) Object() (runtime.Object, error) {
	return e.ObjectContext(context.Background())
}

// ObjectContext is Object that does not wait longer than ctx where decoding waits for another
// process, for this reader or for one that came before: see ContextCodec.
func (e *Entry) ObjectContext(ctx context.Context) (runtime.Object, error) {
	m, err := e.value(ctx, objectForm, e.makeObject)
	if err != nil {
		return nil, err
	}
	return m.object, nil
}

// Form names one way to encode the objects of a resource: "" is taken.
type Form string

// objectForm is the decoded object's own.
const objectForm Form = ""

var errNoForm = errors.New("a body needs the name of its form")

// Body returns what encode makes of the object, which must not be written to.
// The same form always stands for the same bytes: where there is a memo they
// are made at most once while it has them, however many ask at a time. An
// object that is decoded only for that is not kept. It waits no longer than ctx.
func (e *Entry) Body(ctx context.Context, form Form, encode func(obj runtime.Object) ([]byte, error)) ([]byte, error) {
	if form == objectForm {
		return nil, errNoForm
	}
	if e.decoder.Memo == nil {
		return e.encode(ctx, encode)
	}
	m, err := e.value(ctx, form, func(ctx context.Context) (*made, error) {
		body, err := e.encode(ctx, encode)
		return &made{body: body, size: int64(cap(body))}, err
	})
	if err != nil {
		return nil, err
	}
	return m.body, nil
}

// Stamped returns the protobuf encoding of the object, without decoding it.
// False: there is no such short cut, and Body has to be asked.
func (e *Entry) Stamped() (Stamped, bool) {
	if s := e.stamped.Load(); s != nil {
		return *s, true
	}
	if e.decoder.Message == nil {
		return Stamped{}, false
	}
	message, ok := e.decoder.Message(e.data)
	if !ok {
		return Stamped{}, false
	}
	s, ok := stamp(message, e.Revision)
	if ok {
		e.stamped.Store(&s)
	}
	return s, ok
}

// Data returns the bytes at rest as the codec made them, which must not be
// written to; nil for an entry that was not made of such.
func (e *Entry) Data() []byte { return e.data }

// At returns the same object as an entry of another revision: that of its
// deletion. e must have been made of bytes.
func (e *Entry) At(revision int64) *Entry {
	return e.decoder.Entry(e.Key, revision, e.data)
}

func (e *Entry) decode(ctx context.Context) (runtime.Object, error) {
	return e.decoder.Decode(ctx, e.Key, e.Revision, e.data)
}

// objectFactor is about how many bytes a decoded object takes for each byte at
// rest, and objectOverhead what it takes anyway.
const (
	objectFactor   = 3
	objectOverhead = 512
)

func (e *Entry) makeObject(ctx context.Context) (*made, error) {
	obj, err := e.decode(ctx)
	return &made{object: obj, size: objectOverhead + objectFactor*int64(len(e.data))}, err
}

// encode makes a body of the object that is there, or of one for the moment.
func (e *Entry) encode(ctx context.Context, encode func(obj runtime.Object) ([]byte, error)) ([]byte, error) {
	obj, err := e.peek(ctx)
	if err != nil {
		return nil, err
	}
	return encode(obj)
}

// peek returns the object that is kept, or one that is not.
func (e *Entry) peek(ctx context.Context) (runtime.Object, error) {
	if s := e.find(objectForm); s != nil {
		if m := s.hit(); m != nil {
			return m.object, nil
		}
	}
	return e.decode(ctx)
}
