package host

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/process"
)

// maxBody bounds the bodies of requests.
const maxBody = 1 << 20

// handler returns the control API.
func (h *Host) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1", answer(h.info))
	mux.Handle("GET /v1/servers", answer(h.list))
	mux.HandleFunc("POST /v1/servers", h.create)
	mux.Handle("GET /v1/servers/{id}", h.withServer((*server).get))
	mux.Handle("DELETE /v1/servers/{id}", h.withServer((*server).delete))
	mux.Handle("POST /v1/servers/{id}/users", h.withServer((*server).createUser))
	mux.Handle("POST /v1/servers/{id}/crds", h.withServer((*server).installCRDs))
	mux.Handle("GET /v1/servers/{id}/faults", h.withServer((*server).listFaults))
	mux.Handle("POST /v1/servers/{id}/faults", h.withServer((*server).addFault))
	mux.Handle("DELETE /v1/servers/{id}/faults", h.withServer((*server).removeFaults))
	mux.Handle("GET /v1/servers/{id}/faults/{fault}", h.withServer((*server).getFault))
	mux.Handle("DELETE /v1/servers/{id}/faults/{fault}", h.withServer((*server).removeFault))
	mux.Handle("POST /v1/servers/{id}/reset", h.withServer((*server).reset))
	mux.Handle("POST /v1/servers/{id}/advance", h.withServer((*server).advance))
	mux.Handle("POST /v1/servers/{id}/settle", h.withServer((*server).awaitQuiet))
	mux.Handle("POST /v1/servers/{id}/wait", h.withServer((*server).wait))
	mux.Handle("POST /v1/servers/{id}/snapshots", h.withServer((*server).takeSnapshot))
	mux.Handle("POST /v1/servers/{id}/snapshots/{snapshot}/restore", h.withServer((*server).restore))
	mux.Handle("DELETE /v1/servers/{id}/snapshots/{snapshot}", h.withServer((*server).deleteSnapshot))
	mux.Handle("GET /v1/servers/{id}/requests", h.withServer((*server).recentRequests))
	mux.Handle("GET /v1/servers/{id}/requests/open", h.withServer((*server).openRequests))
	mux.Handle("GET /v1/servers/{id}/conflicts", h.withServer((*server).conflicts))
	mux.Handle("GET /v1/servers/{id}/writes", h.withServer((*server).writes))
	mux.Handle("GET /v1/servers/{id}/objects", h.withServer((*server).objects))
	mux.Handle("POST /v1/servers/{id}/keep", h.withServer((*server).keep))
	mux.Handle("GET /v1/servers/{id}/log", h.withServer((*server).lastLines))
	return h.authenticate(h.untilIdle(mux))
}

// authenticate rejects requests without the token.
func (h *Host) authenticate(next http.Handler) http.Handler {
	if h.config.Token == "" {
		return next
	}
	want := []byte("Bearer " + h.config.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			writeError(w, &statusError{http.StatusUnauthorized, errors.New("the bearer token of this host is required")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// untilIdle keeps the host from ending during a request.
func (h *Host) untilIdle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.idle.add()
		defer h.idle.remove()
		next.ServeHTTP(w, r)
	})
}

// answer makes a handler of a function that returns the body, or nil for 204 No Content.
func answer(respond func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := respond(r)
		switch {
		case err != nil:
			writeError(w, err)
		case body == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, body)
		}
	})
}

// withServer is answer for the server that the path names.
func (h *Host) withServer(respond func(*server, *http.Request) (any, error)) http.Handler {
	return answer(func(r *http.Request) (any, error) {
		h.mu.Lock()
		s, ok := h.servers[r.PathValue("id")]
		h.mu.Unlock()
		if !ok {
			return nil, notFound(r.PathValue("id"))
		}
		return respond(s, r)
	})
}

func (h *Host) info(*http.Request) (any, error) {
	return Info{Version: miniapi.Version(), KubernetesVersion: miniapi.KubernetesVersion().GitVersion, PID: os.Getpid()}, nil
}

func (h *Host) list(*http.Request) (any, error) {
	h.mu.Lock()
	servers := make([]*server, 0, len(h.servers))
	for _, s := range h.servers {
		servers = append(servers, s)
	}
	h.mu.Unlock()
	slices.SortFunc(servers, func(a, b *server) int { return a.created.Compare(b.created) })
	list := make([]*Server, 0, len(servers))
	for _, s := range servers {
		described, err := s.describe()
		if err != nil {
			return nil, err
		}
		list = append(list, described)
	}
	return list, nil
}

// create starts a server and answers it, or streams its events if the connection is its lease.
func (h *Host) create(w http.ResponseWriter, r *http.Request) {
	var options ServerOptions
	if err := decode(r, &options); err != nil {
		writeError(w, err)
		return
	}
	s, err := h.start(r.Context(), options)
	if err != nil {
		writeError(w, err)
		return
	}
	described, err := s.describe()
	if err != nil {
		writeError(w, errors.Join(err, s.stop()))
		return
	}
	switch options.Lease {
	case LeaseConnection:
		s.stream(w, r, described)
	case LeasePID:
		leaseholder, err := process.Find(options.PID)
		if err != nil {
			writeError(w, errors.Join(invalid(fmt.Errorf("pid %d: %w", options.PID, err)), s.stop()))
			return
		}
		go s.stopWithProcess(leaseholder) // ends with the server
		fallthrough
	default:
		writeJSON(w, http.StatusCreated, described)
	}
}

func (s *server) get(*http.Request) (any, error) { return s.describe() }

func (s *server) delete(*http.Request) (any, error) { return nil, s.stop() }

func (s *server) createUser(r *http.Request) (any, error) {
	var options UserOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	return s.addUser(options)
}

func (s *server) installCRDs(r *http.Request) (any, error) {
	var options CRDOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	if err := validatePaths(options.Paths); err != nil {
		return nil, invalid(err)
	}
	return nil, invalid(s.running.InstallCRDs(r.Context(), options.Paths...))
}

// recentRequests returns the last requests that ended, the latest last.
func (s *server) recentRequests(*http.Request) (any, error) {
	return append([]miniapi.Request{}, s.running.Requests()...), nil
}

// conflicts returns the last conflicts, the latest last.
func (s *server) conflicts(*http.Request) (any, error) {
	conflicts := []Conflict{}
	for _, c := range s.running.Conflicts() {
		conflicts = append(conflicts, Conflict{Name: c.Name, Time: c.Time, Conflict: c})
	}
	return conflicts, nil
}

// writes returns the writes of the user in ?user= after the revision in ?after=, if it is set.
func (s *server) writes(r *http.Request) (any, error) {
	filter := miniapi.WriteFilter{User: r.URL.Query().Get("user")}
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if filter.After, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, invalid(fmt.Errorf("after: %w", err))
		}
	}
	writes, err := s.running.Writes(r.Context(), filter)
	return append([]miniapi.Write{}, writes...), err
}

// objects returns the names of the objects by resource.
func (s *server) objects(r *http.Request) (any, error) { return s.running.ObjectNames(r.Context()) }

// openRequests returns the open requests. With ?wait= it first waits for that time, at most,
// until none is open.
func (s *server) openRequests(r *http.Request) (any, error) {
	if text := r.URL.Query().Get("wait"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return nil, invalid(fmt.Errorf("wait: %w", err))
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		_ = s.running.AwaitIdle(ctx) // the requests that are left are the answer
	}
	requests := []OpenRequest{}
	for _, open := range s.running.OpenRequests() {
		requests = append(requests, OpenRequest(open))
	}
	return requests, nil
}

func (s *server) lastLines(*http.Request) (any, error) {
	lines, _, _ := s.log.since(0)
	return lines, nil
}

// decode reads a JSON body. Unknown fields are errors. An empty body is an empty object.
func decode(r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return &statusError{http.StatusBadRequest, fmt.Errorf("the body is not valid: %s", strings.TrimPrefix(err.Error(), "json: "))}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

func writeError(w http.ResponseWriter, err error) {
	writeJSON(w, codeOf(err), Error{Error: err.Error()})
}
