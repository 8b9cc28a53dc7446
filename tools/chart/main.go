// Command chart draws the results of Go benchmarks as an SVG. It reads the output of go test -bench
// from its standard input and writes the SVG to its standard output.
//
//	go test -bench . ./test/bench | go -C tools run ./chart -metric ratio -title "..."
//
// Each benchmark is a bar. If it ran more than once, the bar shows the median. A line marks the
// value 1, since the usual metric is a ratio. The colours follow the light or dark scheme of the
// reader.
//
// With -curves each benchmark is a point of a curve. Its name ends in an axis with its value, a
// server and an operation, such as /objects=1000/miniapi/get.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	metric := flag.String("metric", "ratio", "the unit of the drawn results")
	title := flag.String("title", "", "the title of the chart")
	curves := flag.Bool("curves", false, "draw the benchmarks whose names have an axis as curves")
	flag.Parse()
	draw := func() error { return drawResults(*title, *metric) }
	if *curves {
		draw = func() error { return drawCurves(*title) }
	}
	if err := draw(); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func drawResults(title, metric string) error {
	bars, err := readBars(os.Stdin, metric)
	if err != nil {
		return err
	}
	return draw(os.Stdout, title, bars)
}

func drawCurves(title string) error {
	panels, err := readPanels(os.Stdin)
	if err != nil {
		return err
	}
	return drawPanels(os.Stdout, title, panels)
}
