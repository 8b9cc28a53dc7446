package main

import (
	"html"
	"math"
	"slices"
)

// scale is a logarithmic scale. from and to are the pixels of its least and greatest value.
type scale struct{ least, greatest, from, to float64 }

// at returns the pixel of a value. The value 0 is drawn as the least value of the scale.
func (s scale) at(value float64) float64 {
	if s.greatest <= s.least {
		return s.from
	}
	part := math.Log(max(value, s.least)/s.least) / math.Log(s.greatest/s.least)
	return s.from + part*(s.to-s.from)
}

// ticks returns the powers of ten in the scale, and twice and five times as much if it has few.
func (s scale) ticks() []float64 {
	factors := []float64{1, 2, 5}
	if s.greatest > 100*s.least {
		factors = factors[:1]
	}
	var ticks []float64
	for power := math.Pow(10, math.Floor(math.Log10(s.least))); power <= s.greatest; power *= 10 {
		for _, factor := range factors {
			if y := factor * power; s.least <= y && y <= s.greatest {
				ticks = append(ticks, y)
			}
		}
	}
	return ticks
}

// scales returns the scales of a panel. They contain all values above 0.
func (p *panel) scales() (x, y scale) {
	x = scale{math.Inf(1), 0, plotLeft, plotLeft + plotWidth}
	y = scale{math.Inf(1), 0, plotTop + plotHeight, plotTop}
	for _, c := range p.curves {
		for _, point := range c.points {
			x.add(point.x)
			y.add(point.y)
		}
	}
	if slices.Contains(p.values(), 0) {
		x.least /= 10
	}
	space := 1.2
	if y.greatest < 2*y.least {
		space = 2 // flat curves look flat, and have more than one tick
	}
	y.least, y.greatest = y.least/space, y.greatest*space
	return x, y
}

func (s *scale) add(value float64) {
	s.greatest = max(s.greatest, value)
	if value > 0 {
		s.least = min(s.least, value)
	}
}

// values returns the values of the axis in order.
func (p *panel) values() []float64 {
	var values []float64
	for _, c := range p.curves {
		for _, point := range c.points {
			values = append(values, point.x)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// labels returns the pixels of the names of the curves: at their last points, but apart.
func (p *panel) labels(y scale) []float64 {
	at, order := make([]float64, len(p.curves)), make([]int, len(p.curves))
	for i, c := range p.curves {
		at[i], order[i] = y.at(c.points[len(c.points)-1].y), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(at[a] - at[b]) })
	lowest := float64(plotTop + plotHeight + 10)
	for _, i := range slices.Backward(order) {
		at[i] = min(at[i], lowest)
		lowest = at[i] - labelHeight
	}
	return at
}

// color returns the index of the color of a curve. Curves of one operation share it.
func (p *panel) color(i int) int {
	var operations []string
	for _, c := range p.curves {
		if !slices.Contains(operations, c.operation) {
			operations = append(operations, c.operation)
		}
	}
	return slices.Index(operations, p.curves[i].operation) % len(colors)
}

func escape(text string) string { return html.EscapeString(text) }
