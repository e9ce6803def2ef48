// Package browser tests the pages as people see them: in a real Chromium, served
// by the real daemon. Its tests have the build tag e2e; they look for Chromium
// with tools/chromium.sh, and leave pictures of the pages in bin/screenshots.
package browser
