// Package browser tests the page at /ui in headless Chromium.
package browser
