// The official suite of the Gateway API, as a program: what it tests and claims is said by its flags.
package conformance

import (
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
)

func TestConformance(t *testing.T) {
	conformance.RunConformanceWithOptions(t, conformance.DefaultOptions(t))
}
