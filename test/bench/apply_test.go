package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkApply measures a server-side apply of a Deployment of 4 KiB that changes one field
// or nothing, and its CPU time, including the client's.
func BenchmarkApply(b *testing.B) {
	for name, image := range map[string]func(i int) string{
		"change": func(i int) string { return fmt.Sprintf("image:%d", i) },
		"noop":   func(int) string { return "image" },
	} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b)
			if err := f.apply(deployment(image(0))); err != nil {
				b.Fatal(err)
			}
			began, i := cpuTime(b), 0
			for b.Loop() {
				i++
				if err := f.apply(deployment(image(i))); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(milliseconds(cpuTime(b)-began)/float64(b.N), "cpu-ms/op")
		})
	}
}

// apply sends the configuration of a Deployment as one field manager.
func (f *fixture) apply(body []byte) error {
	url := f.server.URL() + "/apis/apps/v1/namespaces/default/deployments/d?fieldManager=bench&force=true"
	req, err := http.NewRequest(http.MethodPatch, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	return f.do(req)
}

// deployment returns a Deployment of about 4 KiB with several containers.
func deployment(image string) []byte {
	var containers []string
	for i := range 6 {
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":%q,"args":["--port=80","--level=3"],
			"ports":[{"containerPort":%d,"protocol":"TCP","name":"p%d"}],
			"env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
			"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"64Mi"}},
			"livenessProbe":{"httpGet":{"path":"/health","port":%d},"periodSeconds":10},
			"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"config","mountPath":"/config","readOnly":true}]}`, i, image, 80+i, i, 80+i))
	}
	return fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"app":"d"}},"spec":{"replicas":3,
		"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[%s],
		"volumes":[{"name":"data","emptyDir":{}},{"name":"config","configMap":{"name":"config"}}]}}}}`, strings.Join(containers, ","))
}
