package triggers

import (
	"encoding/json"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// mailInput is what a run sees of a mail. Without a date that can be read, its
// date is when it came.
func (t *Service) mailInput(m *blueprint.Mail, files []blueprint.File, d *blueprint.Delivery, came blueprint.Time) map[string]any {
	from := blueprint.MailAddress{}
	if len(m.From) > 0 {
		from = m.From[0]
	}
	to := make([]any, len(m.To))
	for i, one := range m.To {
		to[i] = addressValue(one)
	}
	date := came
	if !m.Date.IsZero() {
		date = blueprint.TimeOf(m.Date)
	}
	attachments := make([]any, len(files))
	for i, file := range files {
		attachments[i] = map[string]any{
			"id": file.ID, "filename": file.Name, "contentType": file.ContentType, "size": json.Number(strconv.FormatInt(file.Size, 10)), "url": t.Mail.FileURL(file.ID),
		}
	}
	return map[string]any{
		"messageId": m.MessageID, "from": addressValue(from), "to": to, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"date": date.String(), "headers": t.mailHeaders(m, kept(d, senderResults)), "attachments": attachments,
	}
}

func addressValue(one blueprint.MailAddress) map[string]any {
	return map[string]any{"address": one.Address, "name": one.Name}
}

// mailHeaders gives the headers of a mail. The first report of who sent it is
// our own; those that claim to be are taken out, for the headers of a mail are
// whatever its sender wrote (RFC 8601, 5).
func (t *Service) mailHeaders(m *blueprint.Mail, results string) map[string]any {
	out := make(map[string]any, len(m.Headers)+1)
	for name, values := range m.Headers {
		list := make([]any, 0, len(values)+1)
		if name == senderResults {
			if results != "" {
				list = append(list, results)
			}
		}
		for _, value := range values {
			if name != senderResults || !t.claimsToBeOurs(value) {
				list = append(list, value)
			}
		}
		if len(list) > 0 {
			out[name] = list
		}
	}
	if _, there := out[senderResults]; !there && results != "" {
		out[senderResults] = []any{results}
	}
	return out
}

// claimsToBeOurs tells whether a report may be read as one by this server. In
// doubt it may: comments and quotes can hide a word.
func (t *Service) claimsToBeOurs(report string) bool {
	author, _, _ := strings.Cut(report, ";")
	return strings.Contains(strings.ToLower(author), strings.ToLower(t.Mail.Domain))
}
