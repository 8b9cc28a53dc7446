package kinds_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
)

// BenchmarkRow measures the cells of one row of a Table, with the objects of testdata.
func BenchmarkRow(b *testing.B) {
	for _, resource := range kinds.Resources(feature.Default()) {
		if resource.Columns.Row == nil {
			continue
		}
		for _, c := range creations(b) {
			parts := strings.Split(c.Path, "/")
			if parts[len(parts)-1] != resource.Name {
				continue
			}
			switch resource.Name {
			case "pods", "deployments", "services", "configmaps":
			default:
				continue
			}
			obj := resource.Versions[0].New()
			if err := json.Unmarshal(c.Request, obj); err != nil {
				b.Fatal(err)
			}
			b.Run(resource.Name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					resource.Columns.Row(obj)
				}
			})
		}
	}
}
