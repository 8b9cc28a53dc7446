package main_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A process with a memory limit rejects writes with 429 before its memory runs out. Meanwhile it
// answers gets and deletions, and writes again after the load.
func TestMemoryLimit(t *testing.T) {
	const most = 192 / 6 // as many bodies of 3 MiB, each with a decoded object, are the whole limit
	cmd := command(t, "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "GOMEMLIMIT=192MiB")
	s := serveCommand(t, cmd)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.url})
	check(t, err)
	configMaps := client.CoreV1().ConfigMaps("default")
	write := func(name string) error { // obeys Retry-After
		_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	check(t, write("a"))

	var pending []net.Conn
	for rejected := false; !rejected; {
		conn, res := announceBody(t, s.url, 3<<20)
		switch {
		case res.StatusCode == http.StatusContinue && len(pending) < most:
			pending = append(pending, conn)
		case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") == "1" && len(pending) > 0:
			rejected = true
		default:
			t.Fatalf("a write beside %d pending ones: %s, Retry-After %q", len(pending), res.Status, res.Header.Get("Retry-After"))
		}
	}
	t.Logf("%d writes were accepted", len(pending))
	if _, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
		t.Errorf("a get under load: %v", err)
	}
	if err := configMaps.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a deletion under load: %v", err)
	}
	for _, conn := range pending {
		check(t, conn.Close())
	}
	if err := write("b"); err != nil {
		t.Errorf("a write after the load: %v", err)
	}
	check(t, s.stop(syscall.SIGTERM))
}

// announceBody begins a POST and returns the answer to its headers: 100 if the server waits for the
// body.
func announceBody(t *testing.T, url string, size int) (net.Conn, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", size)
	check(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	check(t, err)
	return conn, res
}
