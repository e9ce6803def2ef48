// Package browser tests the pages in a real Chromium, served by the real daemon. Its tests have
// the build tag e2e; they find Chromium with tools/chromium.sh, and write pictures of the pages
// to bin/screenshots.
package browser
