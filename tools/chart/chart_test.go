package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkCreate/c1-2    	     100	    131034 ns/op	 0.50 ratio
BenchmarkCreate/c1-2    	     100	    131034 ns/op	 0.70 ratio
BenchmarkCreate/c1-2    	     100	    131034 ns/op	 0.60 ratio
BenchmarkStart-2        	      10	    131034 ns/op
BenchmarkList<all>-2    	      10	    131034 ns/op	 12.4 ratio
PASS
`

func TestBarsAreMediansInOrder(t *testing.T) {
	got, err := readBars(strings.NewReader(output), "ratio")
	if want := []bar{{"Create c1", 0.6}, {"List<all>", 12.4}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := readBars(strings.NewReader(output), "MB/s"); err == nil {
		t.Error("a chart without bars")
	}
}

func TestDrawingIsXMLWithAllValues(t *testing.T) {
	var out strings.Builder
	if err := draw(&out, "ours & theirs", []bar{{"Create c1", 0.6}, {"List<all>", 12.4}}); err != nil {
		t.Fatal(err)
	}
	decoder, text := xml.NewDecoder(strings.NewReader(out.String())), ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			text += string(data) + "\n"
		}
	}
	for _, want := range []string{"ours & theirs", "Create c1", "0.60", "List<all>", "12"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

const growth = `BenchmarkGrowth/objects=1000/ours/list_by_name-2  100  1 ns/op  80 cpu-us/op
BenchmarkGrowth/objects=1000/ours/memory-2  100  1 ns/op  100 MB-RSS
BenchmarkGrowth/objects=10000/ours/list_by_name-2  100  1 ns/op  90 cpu-us/op
BenchmarkGrowth/objects=10000/theirs/list_by_name-2  100  1 ns/op  900 cpu-us/op
BenchmarkGet-2  100  1 ns/op  0.5 ratio
`

func TestCurves(t *testing.T) {
	panels, err := readPanels(strings.NewReader(growth))
	if err != nil {
		t.Fatal(err)
	}
	if len(panels) != 2 || panels[0].axis != "objects" || panels[1].unit != "B-RSS" || len(panels[0].curves) != 2 {
		t.Fatalf("got %d panels: %+v, %+v", len(panels), panels[0], panels[len(panels)-1])
	}
	if got, want := panels[0].curves[0], []point{{1000, 80}, {10000, 90}}; got.operation != "list by name" || !slices.Equal(got.points, want) {
		t.Errorf("got %+v", got)
	}
	var out strings.Builder
	if err := drawPanels(&out, "growth", panels); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CPU time of an operation", "list by name, theirs", ">10000<", "Memory in MB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
		t.Error(out.String())
	}
	if _, err := readPanels(strings.NewReader(output)); err == nil {
		t.Error("curves without an axis")
	}
}
