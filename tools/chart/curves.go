package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// panel is a diagram of one axis and one unit.
type panel struct {
	axis, unit string
	curves     []*curve
}

// curve is one operation of one server.
type curve struct {
	operation, server string
	points            []point
}

type point struct{ x, y float64 }

// grown is the name of a result: its axis with the value, the server and the operation.
var grown = regexp.MustCompile(`/(\w+)=(\d+)/([\w-]+)/(.+)$`)

// units are the units that are drawn. benchfmt converts MB to B.
var units = []struct {
	name, title string
	factor      float64
}{{"cpu-us/op", "CPU time of an operation in µs", 1}, {"B-RSS", "Memory in MB", 1e-6}, {"ratio", "Relative to the second quarter", 1}}

// readPanels returns the curves of the results whose names have an axis, in the order of the input.
func readPanels(in io.Reader) ([]*panel, error) {
	var panels []*panel
	results := benchfmt.NewReader(in, "standard input")
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := grown.FindStringSubmatch(processors.ReplaceAllString(string(result.Name), ""))
		if name == nil {
			continue
		}
		x, _ := strconv.ParseFloat(name[2], 64)
		for _, unit := range units {
			if y, ok := result.Value(unit.name); ok {
				panels = addPoint(panels, name, unit.name, point{x, y * unit.factor})
			}
		}
	}
	if err := results.Err(); err != nil {
		return nil, err
	}
	if len(panels) == 0 {
		return nil, fmt.Errorf("no benchmark has an axis in its name, such as objects=1000")
	}
	return panels, nil
}

// addPoint adds a point to the curve of a name, whose parts are those of grown.
func addPoint(panels []*panel, name []string, unit string, at point) []*panel {
	i := slices.IndexFunc(panels, func(p *panel) bool { return p.axis == name[1] && p.unit == unit })
	if i < 0 {
		i = len(panels)
		panels = append(panels, &panel{axis: name[1], unit: unit})
	}
	p, operation := panels[i], spaces.Replace(name[4])
	j := slices.IndexFunc(p.curves, func(c *curve) bool { return c.operation == operation && c.server == name[3] })
	if j < 0 {
		j = len(p.curves)
		p.curves = append(p.curves, &curve{operation: operation, server: name[3]})
	}
	p.curves[j].points = append(p.curves[j].points, at)
	return panels
}

// The sizes of a panel in pixels.
const (
	panelWidth  = 760
	panelHeight = 290
	plotLeft    = 60
	plotWidth   = 420
	plotTop     = 44
	plotHeight  = 200
	labelHeight = 14
	tickWidth   = 36
)

const curveStyle = `
	svg { color-scheme: light dark }
	text { font: 12px system-ui, sans-serif; fill: #24292f }
	.title { font-weight: 600; font-size: 14px }
	.axis { stroke: #8c959f; stroke-width: 1 }
	path { fill: none; stroke-width: 2 }
	.other { stroke-dasharray: 5 4 }
	@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
`

// colors are readable on light and on dark backgrounds.
var colors = []string{"#2f6fde", "#d2691e", "#2e9e5b", "#a855c7", "#c93c5a", "#8a8f10", "#11899b"}

// drawPanels writes the panels below each other.
func drawPanels(out io.Writer, title string, panels []*panel) error {
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-label="%s">`+"\n<style>%s</style>\n",
		panelWidth, panelHeight*len(panels), panelWidth, escape(title), curveStyle)
	for i, p := range panels {
		fmt.Fprintf(&svg, `<g transform="translate(0 %d)">`+"\n", i*panelHeight)
		p.draw(&svg)
		svg.WriteString("</g>\n")
	}
	svg.WriteString("</svg>\n")
	_, err := io.WriteString(out, svg.String())
	return err
}

// draw writes a panel with logarithmic scales. A dashed curve is of another server than the first
// one.
func (p *panel) draw(svg *strings.Builder) {
	xs, ys := p.scales()
	title := p.unit
	for _, unit := range units {
		if unit.name == p.unit {
			title = unit.title
		}
	}
	fmt.Fprintf(svg, `<text class="title" x="%d" y="22">%s, by number of %s</text>`+"\n", margin, escape(title), escape(p.axis))
	fmt.Fprintf(svg, `<path class="axis" d="M%d %d V%d H%d"/>`+"\n", plotLeft, plotTop, plotTop+plotHeight, plotLeft+plotWidth)
	free := 0.0 // the pixel from which a label overlaps no other one
	for _, x := range p.values() {
		if xs.at(x) < free {
			continue
		}
		free = xs.at(x) + tickWidth
		fmt.Fprintf(svg, `<text x="%.1f" y="%d" text-anchor="middle">%.0f</text>`+"\n", xs.at(x), plotTop+plotHeight+18, x)
	}
	for _, y := range ys.ticks() {
		fmt.Fprintf(svg, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft-6, ys.at(y)+4, strconv.FormatFloat(y, 'f', -1, 64))
	}
	for i, at := range p.labels(ys) {
		c := p.curves[i]
		color, class, name := colors[p.color(i)], "", c.operation
		if c.server != p.curves[0].server {
			class, name = ` class="other"`, c.operation+", "+c.server
		}
		path := ""
		for _, point := range c.points {
			path += fmt.Sprintf(" %.1f %.1f", xs.at(point.x), ys.at(point.y))
		}
		fmt.Fprintf(svg, `<path%s style="stroke:%s" d="M%s"/>`, class, color, path)
		fmt.Fprintf(svg, `<text x="%d" y="%.1f" style="fill:%s">%s</text>`+"\n", plotLeft+plotWidth+8, at+4, color, escape(name))
	}
}
