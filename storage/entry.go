package storage

import (
	"context"
	"errors"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
)

// Entry is one version of one object.
//
// Invariant: an entry and its object never change after the entry is published. Entries are safe
// for concurrent use and may be shared.
type Entry struct {
	// Key of the object, without the prefix of the implementation.
	Key string
	// Revision of the last write (ModRevision). In a Deleted event and in the result of a deletion
	// it is the revision of the deletion, in a dry-run create 0.
	Revision int64

	data    []byte
	decoder *Decoder
	slots   atomic.Pointer[slot] // linked list of the values derived from data
	stamped atomic.Pointer[Stamped]
	attrs   atomic.Pointer[attributes]
}

// Decoder makes entries from stored bytes. All entries of a resource share one Decoder.
type Decoder struct {
	// Decode returns the object of data, stamped with revision. The error wraps ErrCorrupt, or
	// ErrUnavailable if ctx has ended, or is a Status for the client.
	Decode func(ctx context.Context, key string, revision int64, data []byte) (runtime.Object, error)
	// Message returns the protobuf message of the object within data, without a resourceVersion. It
	// returns false if data has none, or if decoding would return a different object. Nil: no data
	// has a message.
	Message func(data []byte) ([]byte, bool)
	// corrupt is set once the decoder has met a corrupt object. Decoders made by With share it.
	// Nil: it is never set.
	corrupt *atomic.Bool
	// unreadable is the error of stored bytes that could not be read.
	unreadable error
	// Memo keeps the objects and bodies of entries that have many readers. Nil: an entry keeps its
	// object after the first call of Object, and no bodies. That suits entries with one reader.
	Memo *Memo
}

// With returns the same decoder for entries that share a memo.
func (d *Decoder) With(memo *Memo) *Decoder {
	shared := *d
	shared.Memo = memo
	return &shared
}

// Entry returns the entry of data, which must not be modified afterwards. The first call of Object
// decodes it.
func (d *Decoder) Entry(key string, revision int64, data []byte) *Entry {
	return &Entry{Key: key, Revision: revision, data: data, decoder: d}
}

// NewEntry returns the entry of an object without stored bytes. The first call of Object calls
// make, which returns the object stamped with revision.
func NewEntry(key string, revision int64, make func() (runtime.Object, error)) *Entry {
	d := &Decoder{Decode: func(context.Context, string, int64, []byte) (runtime.Object, error) { return make() }}
	return d.Entry(key, revision, nil)
}

// Object returns the decoded object, which must not be modified. For the errors see Decoder.Decode.
func (e *Entry) Object() (runtime.Object, error) {
	return e.ObjectContext(context.Background())
}

// ObjectContext is Object, but waits until ctx ends at most if decoding waits for another process
// (see ContextCodec), on behalf of this or an earlier caller.
func (e *Entry) ObjectContext(ctx context.Context) (runtime.Object, error) {
	d, err := e.value(ctx, objectForm, e.makeObject)
	if err != nil {
		return nil, err
	}
	return d.object, nil
}

// Peek is ObjectContext for a caller that needs the object once: an entry without a memo does not
// keep the object.
func (e *Entry) Peek(ctx context.Context) (runtime.Object, error) {
	if e.decoder.Memo == nil {
		return e.peek(ctx)
	}
	return e.ObjectContext(ctx)
}

// Form names an encoding of the objects of a resource. The empty Form is reserved.
type Form string

// objectForm is the Form of the decoded object.
const objectForm Form = ""

var errNoForm = errors.New("the form of a body is empty")

// Body returns the result of encode for the object, which must not be modified. A Form must always
// stand for the same encode function. With a memo, encode runs at most once while the memo keeps
// the body, even for concurrent callers. An object that is only decoded for its body is not kept.
// If decoding waits for another process, Body waits until ctx ends at most.
func (e *Entry) Body(ctx context.Context, form Form, encode func(obj runtime.Object) ([]byte, error)) ([]byte, error) {
	if form == objectForm {
		return nil, errNoForm
	}
	if e.decoder.Memo == nil {
		return e.encode(ctx, encode)
	}
	d, err := e.value(ctx, form, func(ctx context.Context) (*derived, error) {
		body, err := e.encode(ctx, encode)
		return &derived{body: body, size: int64(cap(body))}, err
	})
	if err != nil {
		return nil, err
	}
	return d.body, nil
}

// Stamped returns the protobuf encoding of the object, made without decoding it. It returns false
// if that is not possible; the caller then uses Body.
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

// Data returns the stored bytes as the codec encoded them, which must not be modified. It returns
// nil for an entry without stored bytes.
func (e *Entry) Data() []byte { return e.data }

// At returns the entry of the same object at the revision of its deletion. The entry must have
// stored bytes.
func (e *Entry) At(revision int64) *Entry {
	return e.decoder.Entry(e.Key, revision, e.data)
}

func (e *Entry) decode(ctx context.Context) (runtime.Object, error) {
	return e.decoder.Decode(ctx, e.Key, e.Revision, e.data)
}

// The estimated size of a decoded object is objectOverhead bytes, and a factor for each stored
// byte: messageFactor for a protobuf message, jsonFactor for JSON, which is decoded to maps.
const (
	objectOverhead = 512
	messageFactor  = 3
	jsonFactor     = 9
)

// DecodingSize returns the estimated number of bytes that Object allocates: the size of the decoded
// object, or 0 if the entry keeps it already.
func (e *Entry) DecodingSize() int64 {
	if s := e.find(objectForm); s != nil && s.load() != nil {
		return 0
	}
	return e.objectSize()
}

func (e *Entry) objectSize() int64 {
	factor := int64(messageFactor)
	if e.decoder.Message == nil {
		factor = jsonFactor
	}
	return objectOverhead + factor*int64(len(e.data))
}

func (e *Entry) makeObject(ctx context.Context) (*derived, error) {
	obj, err := e.decode(ctx)
	return &derived{object: obj, size: e.objectSize()}, err
}

// encode returns the result of encode for the object.
func (e *Entry) encode(ctx context.Context, encode func(obj runtime.Object) ([]byte, error)) ([]byte, error) {
	obj, err := e.peek(ctx)
	if err != nil {
		return nil, err
	}
	return encode(obj)
}

// peek returns the object if the entry keeps it, and otherwise decodes one that it does not keep.
func (e *Entry) peek(ctx context.Context) (runtime.Object, error) {
	if s := e.find(objectForm); s != nil {
		if d := s.load(); d != nil {
			return d.object, nil
		}
	}
	return e.decode(ctx)
}
