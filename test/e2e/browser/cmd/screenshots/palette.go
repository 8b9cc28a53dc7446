package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// hue is a color without the lower half of its bits.
type hue struct{ r, g, b uint32 }

func hueOf(c color.Color) hue {
	r, g, b, _ := c.RGBA()
	return hue{r >> 12, g >> 12, b >> 12}
}

// withPalette returns a PNG with 256 colors, a third of the bytes: the most frequent color of each
// of the most frequent hues, so that a color of few pixels stays.
func withPalette(data []byte) ([]byte, error) {
	source, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	counts, bounds := map[color.Color]int{}, source.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[source.At(x, y)]++
		}
	}
	hues, best := map[hue]int{}, map[hue]color.Color{}
	for c, n := range counts {
		h := hueOf(c)
		hues[h] += n
		if best[h] == nil || n > counts[best[h]] {
			best[h] = c
		}
	}
	frequent := slices.SortedFunc(maps.Keys(hues), func(a, b hue) int { return cmp.Compare(hues[b], hues[a]) })
	palette := color.Palette{}
	for _, h := range frequent[:min(256, len(frequent))] {
		palette = append(palette, best[h])
	}
	nearest := map[color.Color]uint8{}
	for c := range counts {
		nearest[c] = uint8(palette.Index(c))
	}
	reduced := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			reduced.SetColorIndex(x, y, nearest[source.At(x, y)])
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, reduced)
	return out.Bytes(), err
}
