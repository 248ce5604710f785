package secret

import (
	"maps"

	"blueprintd/blueprint"
)

// Exchange returns a masked copy of an exchange. Truncated texts lose their end, which may
// be the beginning of a secret.
func (m *Masker) Exchange(x blueprint.Exchange) blueprint.Exchange {
	if m == nil {
		return x
	}
	x.Request.URL, x.Request.Headers, x.Request.Body = m.Address(x.Request.URL), m.headers(x.Request.Headers), m.body(x.Request.Body, x.Request.Cut)
	x.Error = m.Text(x.Error)
	if x.Fault != nil {
		fault := *x.Fault
		fault.Host, fault.Reason, fault.Hint = m.Text(fault.Host), m.Text(fault.Reason), m.Text(fault.Hint)
		x.Fault = &fault
	}
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = m.headers(answer.Headers), m.body(answer.Body, answer.Cut)
		x.Response = &answer
	}
	return x
}

// StepExchange returns a masked copy of the exchange of a failed step.
func (m *Masker) StepExchange(x *blueprint.StepExchange) *blueprint.StepExchange {
	if m == nil || x == nil {
		return x
	}
	out := *x
	at := &out.Request
	at.URL, at.Headers, at.Body = m.Address(at.URL), m.headers(at.Headers), m.body(at.Body, false)
	at.Host, at.From, at.To, at.Subject = m.Text(at.Host), m.Text(at.From), m.Text(at.To), m.Text(at.Subject)
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body, answer.Message = m.headers(answer.Headers), m.body(answer.Body, false), m.Text(answer.Message)
		out.Response = &answer
	}
	return &out
}

func (m *Masker) body(body any, cut bool) any {
	text, ok := body.(string)
	switch {
	case ok && cut:
		return m.Cut(text)
	case ok:
		return m.Address(text) // may be a form
	case cut:
		return m.cutValue(body)
	}
	return m.Value(body)
}

func (m *Masker) headers(headers map[string]string) map[string]string {
	headers = maps.Clone(headers)
	var renamed []string
	for name, value := range headers {
		headers[name] = m.Address(value)
		if m.replace(name) != name {
			renamed = append(renamed, name)
		}
	}
	rename(headers, renamed, m.replace)
	return headers
}
