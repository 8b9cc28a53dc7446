package cast

import (
	"fmt"
	"html"
	"strings"
)

// Measures of the picture, in pixels.
const (
	columns    = 92
	charWidth  = 84 // in tenths, of a monospaced font of 14 pixels
	lineHeight = 20
	titleBar   = 34
	margin     = 16
)

// row is a line of the screen.
type row struct{ class, text string }

// Draw returns a terminal with the transcript as SVG. The rows appear one after the other, once.
// Programs that show no animations, and readers who prefer none, see all rows.
func Draw(transcript string) string {
	rows := layOut(transcript)
	width, height := columns*charWidth/10+2*margin, titleBar+len(rows)*lineHeight+margin
	var svg strings.Builder
	fmt.Fprintf(&svg, header, width, height, html.EscapeString(transcript), width-1, height-1)
	delay := 0.0
	for i, row := range rows {
		if row.class == "cmd" {
			delay += 0.9
		} else if i > 0 && rows[i-1].class == "cmd" {
			delay += 0.4
		}
		fmt.Fprintf(&svg, "<text xml:space=\"preserve\" class=%q x=\"%d\" y=\"%d\" style=\"animation-delay:%.1fs\">%s</text>\n",
			row.class, margin, titleBar+(i+1)*lineHeight-6, delay, html.EscapeString(row.text))
	}
	return svg.String() + "</svg>\n"
}

// layOut breaks the lines of a transcript as a terminal does.
func layOut(transcript string) (rows []row) {
	for _, line := range strings.Split(strings.TrimRight(transcript, "\n"), "\n") {
		class := "out"
		switch {
		case strings.HasPrefix(line, "$ "):
			class = "cmd"
		case strings.HasPrefix(line, "Error"):
			class = "err"
		}
		runes := []rune(line)
		for len(runes) > columns {
			rows = append(rows, row{class, string(runes[:columns])})
			runes = runes[columns:]
		}
		rows = append(rows, row{class, string(runes)})
	}
	return rows
}

// header is the opening of the picture. The terminal has its own background, so that it can be
// read on light and dark pages.
const header = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title transcript">
<!-- Made by: go -C test/e2e run ./cmd/cast -->
<title id="title">miniapi in a terminal</title>
<desc id="transcript">%s</desc>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; animation: appear .2s backwards }
.cmd { fill: #f0f6fc; font-weight: 600 }
.out { fill: #b1bac4 }
.err { fill: #ff9b90 }
@keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect x=".5" y=".5" width="%d" height="%d" rx="8" fill="#0d1117" stroke="#57606a"/>
<circle cx="20" cy="17" r="5" fill="#ff7b72"/><circle cx="38" cy="17" r="5" fill="#e3b341"/><circle cx="56" cy="17" r="5" fill="#7ee787"/>
`
