package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The sizes of the chart in pixels.
const (
	width      = 760
	labelWidth = 270
	valueWidth = 60
	rowHeight  = 24
	barHeight  = 14
	topHeight  = 44
	margin     = 12
)

const style = `
	svg { color-scheme: light dark }
	text { font: 13px system-ui, sans-serif; fill: #24292f }
	.title { font-weight: 600; font-size: 15px }
	.bar { fill: #2f6fde }
	.one { stroke: #8c959f; stroke-dasharray: 3 3 }
	@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar { fill: #58a6ff } }
`

// draw writes a chart of horizontal bars.
func draw(out io.Writer, title string, bars []bar) error {
	largest := 1.0
	for _, b := range bars {
		largest = max(largest, b.value)
	}
	scale := float64(width-labelWidth-valueWidth-margin) / largest
	height := topHeight + len(bars)*rowHeight + margin
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, html.EscapeString(describe(title, bars)))
	fmt.Fprintf(&svg, "<style>%s</style>\n", style)
	fmt.Fprintf(&svg, `<text class="title" x="%d" y="24">%s</text>`+"\n", margin, html.EscapeString(title))
	for i, b := range bars {
		top := topHeight + i*rowHeight
		base := top + barHeight - 2
		length := math.Max(1, b.value*scale)
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth-8, base, html.EscapeString(b.name))
		fmt.Fprintf(&svg, `<rect class="bar" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`, labelWidth, top, length, barHeight)
		fmt.Fprintf(&svg, `<text x="%.1f" y="%d">%s</text>`+"\n", labelWidth+length+6, base, number(b.value))
	}
	one := labelWidth + scale
	fmt.Fprintf(&svg, `<line class="one" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n</svg>\n", one, one, topHeight-6, height-margin)
	_, err := io.WriteString(out, svg.String())
	return err
}

// describe returns the chart as a text for screen readers.
func describe(title string, bars []bar) string {
	texts := make([]string, len(bars))
	for i, b := range bars {
		texts[i] = b.name + " " + number(b.value)
	}
	return title + ": " + strings.Join(texts, ", ")
}

// number returns a value with two digits, or without a fraction from 10 on.
func number(value float64) string {
	switch {
	case value >= 10:
		return fmt.Sprintf("%.0f", value)
	case value >= 1:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2f", value)
	}
}
