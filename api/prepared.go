package api

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// prepared is an object that is sent again and again: it is encoded once for
// each media type. Safe for concurrent use.
type prepared struct {
	obj    runtime.Object
	mu     sync.Mutex // guards bodies
	bodies map[string][]byte
}

func newPrepared(obj runtime.Object) *prepared {
	return &prepared{obj: obj, bodies: map[string][]byte{}}
}

// body returns the encoded object, which must not be written to.
func (p *prepared) body(m *media) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if body, ok := p.bodies[m.Type]; ok {
		return body, nil
	}
	body, err := encodeWhole(format{media: m}, headerOf(p.obj), p.obj)
	if err != nil {
		return nil, err
	}
	p.bodies[m.Type] = body
	return body, nil
}

// writePrepared answers with an object in a format that was negotiated.
func (s *Server) writePrepared(w http.ResponseWriter, r *http.Request, f format, p *prepared) {
	body, err := p.body(f.media)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	write := s.writeBytes
	if f.indents() {
		body, write = indentJSON(body), s.writeOwned
	}
	contentType := f.media.Type
	if !f.as.Empty() {
		contentType += ";g=" + f.as.Group + ";v=" + f.as.Version + ";as=" + f.as.Kind
	}
	write(w, r, contentType, answer{http.StatusOK, body})
}
