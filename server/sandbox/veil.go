package sandbox

import (
	"maps"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// veil hides what may not be shown of a call: the secrets of the run, what looks
// like a credential, and what was hidden for that in the request wherever it comes
// again in the answer. It is not safe for concurrent use.
type veil struct {
	secrets interface{ Load() *secret.Masker } // nil = nothing is known of any
	looks   *secret.Redactor
}

func newVeil(caller *outbound.Caller) *veil {
	return &veil{caller.Secrets, secret.Remembering()}
}

// exchange gives an exchange as it may be shown.
func (v *veil) exchange(x blueprint.Exchange) blueprint.Exchange {
	x.Request.URL, x.Request.Headers, x.Request.Body = v.looks.Text(x.Request.URL), v.headers(x.Request.Headers), v.looks.Value(x.Request.Body)
	x.Error = v.looks.Text(x.Error)
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = v.headers(answer.Headers), v.looks.Value(answer.Body)
		x.Response = &answer
	}
	x = v.looks.Masker().Exchange(x)
	if v.secrets != nil {
		x = v.secrets.Load().Exchange(x)
	}
	return x
}

func (v *veil) headers(given map[string]string) map[string]string {
	shown := maps.Clone(given)
	for name, value := range shown {
		shown[name] = v.looks.Header(name, value)
	}
	return shown
}

// veiled gives what was asked as it may be shown.
func (a *asked) veiled() blueprint.ExchangeRequest {
	return newVeil(&a.caller).exchange(blueprint.Exchange{Request: a.whole()}).Request
}
