package encoding

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// CachedObject is an object that is sent many times, such as a discovery document. It is encoded
// once per media type. Safe for concurrent use.
type CachedObject struct {
	obj       runtime.Object
	mu        sync.Mutex        // guards documents
	documents map[string][]byte // by media type
}

// NewCachedObject returns a CachedObject of obj, which must not change any more and has its type
// header set.
func NewCachedObject(obj runtime.Object) *CachedObject {
	return &CachedObject{obj: obj, documents: map[string][]byte{}}
}

// document returns the encoded object, which is shared.
func (o *CachedObject) document(m *MediaType) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if document, ok := o.documents[m.Type]; ok {
		return document, nil
	}
	header := TypeHeader(o.obj.GetObjectKind().GroupVersionKind())
	document, err := Format{MediaType: m}.encodeDocument(header, o.obj)
	if err != nil {
		return nil, err
	}
	o.documents[m.Type] = document
	return document, nil
}

// WriteCached sends a cached object.
func (p *Responder) WriteCached(w http.ResponseWriter, r *http.Request, f Format, o *CachedObject) {
	document, err := o.document(f.MediaType)
	if err != nil {
		p.WriteError(w, r, err)
		return
	}
	contentType := f.MediaType.Type
	if !f.As.Empty() {
		contentType += ";g=" + f.As.Group + ";v=" + f.As.Version + ";as=" + f.As.Kind
	}
	if f.indents() {
		p.WriteResponse(w, r, Response{contentType, http.StatusOK, indentJSON(document)})
		return
	}
	p.WriteResponse(w, r, Response{contentType, http.StatusOK, document})
}
