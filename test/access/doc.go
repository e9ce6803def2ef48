// Package access tests the OIDC login with a real OpenID provider. Its tests have the build tag
// e2e; they build the provider once, with tools/build.sh.
package access
