package miniapitest_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/miniapitest"
)

// silent keeps the warnings of etcd about a slow machine out of the log of the test.
var silent = miniapi.Config{Logger: slog.New(slog.DiscardHandler)}

// startInformer runs an informer until ctx ends. ended waits for its end. On return, its watch is
// open, because it has received an object created after its list.
func startInformer(ctx context.Context, t testing.TB, server *miniapi.Server) (ended func()) {
	config := rest.AddUserAgent(server.RESTConfig(), "the-controller")
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(client, 0)
	seen := make(chan struct{}, 10)
	_, err := factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { seen <- struct{}{} },
	})
	check(t, err)
	factory.Start(ctx.Done())
	for _, name := range []string{"listed", "watched"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
		check(t, err)
		<-seen
	}
	return factory.Shutdown
}

// watch opens a watch and returns the response body.
func watch(t testing.TB, server *miniapi.Server) io.Closer {
	resp, err := http.Get(server.URL() + "/api/v1/pods?watch=true")
	check(t, err)
	return resp.Body
}

// upload sends an incomplete create request.
func upload(t testing.TB, server *miniapi.Server) io.Closer {
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
	check(t, err)
	_, err = io.WriteString(conn, "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nUser-Agent: slow\r\n"+
		"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n{")
	check(t, err)
	_, err = io.ReadFull(conn, make([]byte, len("HTTP/1.1 100"))) // the server reads the body
	check(t, err)
	return conn
}

func TestLeaksAreReported(t *testing.T) {
	for name, tc := range map[string]struct {
		leak func(ctx context.Context, t testing.TB, server *miniapi.Server) (ended func())
		want string
	}{
		"an informer": {
			leak: startInformer,
			want: `watch: GET /api/v1/nodes\?\S*watch=true by "\S.*the-controller", open for \S+s`,
		},
		"a watch": {
			leak: func(_ context.Context, t testing.TB, server *miniapi.Server) func() { return closing(watch(t, server)) },
			want: `watch: GET /api/v1/pods\?watch=true by "Go-http-client/1.1", open for \S+s`,
		},
		"a request that never ends": {
			leak: func(_ context.Context, t testing.TB, server *miniapi.Server) func() {
				return closing(upload(t, server))
			},
			want: `create: POST /api/v1/namespaces by "slow", open for \S+s`,
		},
	} {
		for _, fail := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var ended func()
				got := runTest(func(t testing.TB) {
					ended = tc.leak(ctx, t, miniapitest.Start(t, miniapitest.Options{Config: silent, FailOnLeak: fail}))
				})
				cancel()
				ended()
				want := `^miniapitest: TestRecorded is over, and clients of its server http://127.0.0.1:\d+ ` +
					`still have requests open: stop them before the test ends` + "\n\t" + tc.want + "\n$"
				if text := got.log.String(); !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("got  %s\nwant %s", text, want)
				}
				if got.failed != fail {
					t.Errorf("failed: %v", got.failed)
				}
			})
		}
	}
}

func closing(c io.Closer) func() { return func() { _ = c.Close() } }

func TestClientsThatEndInTimeAreNotReported(t *testing.T) {
	for name, use := range map[string]func(t testing.TB, server *miniapi.Server) (ended func()){
		"an informer with the context of the test": func(t testing.TB, server *miniapi.Server) func() {
			return startInformer(t.Context(), t, server)
		},
		"an informer stopped by a cleanup": func(t testing.TB, server *miniapi.Server) func() {
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			return startInformer(ctx, t, server)
		},
		"a closed watch": func(t testing.TB, server *miniapi.Server) func() {
			check(t, watch(t, server).Close())
			return func() {}
		},
		"a watch closed by a cleanup": func(t testing.TB, server *miniapi.Server) func() {
			t.Cleanup(closing(watch(t, server)))
			return func() {}
		},
		"an aborted request": func(t testing.TB, server *miniapi.Server) func() {
			check(t, upload(t, server).Close())
			return func() {}
		},
		"an idle connection": func(t testing.TB, server *miniapi.Server) func() {
			createAndList(t, server, "once")
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				var ended func()
				got := runTest(func(t testing.TB) {
					ended = use(t, miniapitest.Start(t, miniapitest.Options{Config: silent, FailOnLeak: true}))
				})
				ended()
				if got.failed || got.log.Len() > 0 {
					t.Fatalf("failed %v: %s", got.failed, &got.log)
				}
			}
		})
	}
}
