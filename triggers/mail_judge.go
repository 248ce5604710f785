package triggers

import (
	"strings"
	"time"

	"blueprintd/blueprint"
)

// judgeRawMail reads what came and decides about it.
func (t *Service) judgeRawMail(a *activation, at time.Time) *refusal {
	if t.Mail.Parse == nil {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "this server reads no mail")}
	}
	m, err := t.Mail.Parse(a.firing.Delivery.Body)
	if err != nil {
		return &refusal{answer: shown(err)}
	}
	return t.judgeMail(a, m, at)
}

// judgeMail holds a mail against the trigger's filters and makes the input of
// its run. At is when it came.
func (t *Service) judgeMail(a *activation, m *blueprint.Mail, at time.Time) *refusal {
	d, config := a.firing.Delivery, a.binding.Trigger.Config
	for _, name := range []string{senderSPF, senderDKIM, senderDMARC} {
		d.Note(name, kept(d, name))
	}
	if twice := kept(d, senderTwice); twice != "" {
		d.Note("repeatedHeader", twice)
	}
	d.Note("from", addressesOf(m.From))
	d.Note("messageId", m.MessageID)
	if why := fromWhom(config["allowFrom"], m); why.Code != "" {
		return &refusal{why: why}
	}
	if config["requireAuth"] == true {
		switch kept(d, senderCheck) {
		case senderPassed:
		case senderUndecided:
			// Whoever sent it tries again; who has it judged again cannot.
			code := blueprint.CodeUnavailable
			if a.firing.Source == blueprint.SourceRedelivery {
				code = blueprint.CodeBadRequest
			}
			return &refusal{answer: blueprint.Errorf(code, "requireAuth: the DNS did not say whether the domain of the sender answers for the mail")}
		default:
			if twice := kept(d, senderTwice); twice != "" {
				return &refusal{why: blueprint.Because(blueprint.ReasonRequireAuth, "repeated", twice)}
			}
			return &refusal{why: blueprint.Because(blueprint.ReasonRequireAuth, "results", kept(d, senderResults))}
		}
	}
	var files []blueprint.File
	if config["attachments"] != "ignore" {
		files = make([]blueprint.File, len(m.Attachments))
		for i, file := range m.Attachments {
			file.ID = t.IDs.At(t.Clock.Now(), "file", a.firing.ID).Token(fileID)
			files[i] = file
		}
	}
	a.input = t.mailInput(m, files, d, blueprint.TimeOf(at))
	a.firing.Files = files
	if a.firing.Why.Code == "" {
		a.firing.Because(blueprint.Because(blueprint.ReasonMail, "from", addressesOf(m.From)))
	}
	return nil
}

// fileID is the length of a file's id, in characters: it cannot be guessed.
const fileID = 32

// fromWhom returns why a list of addresses and @domains leaves a mail out, without
// a code when it does not. Everybody whom the mail says it is from must be on the list.
func fromWhom(list any, m *blueprint.Mail) (why blueprint.Reason) {
	allowed, ok := list.([]any)
	if !ok {
		return why // no list, or none that could be stored
	}
	if len(m.From) == 0 {
		return blueprint.Because(blueprint.ReasonAllowFrom)
	}
	for _, from := range m.From {
		if !isAllowed(allowed, from.Address) {
			return blueprint.Because(blueprint.ReasonAllowFrom, "address", from.Address)
		}
	}
	return why
}

func isAllowed(list []any, address string) bool {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return false
	}
	for _, entry := range list {
		wanted, _ := entry.(string)
		if strings.HasPrefix(wanted, "@") && strings.EqualFold(wanted, address[at:]) || strings.EqualFold(wanted, address) {
			return true
		}
	}
	return false
}

func addressesOf(list []blueprint.MailAddress) string {
	var all []string
	for _, one := range list {
		all = append(all, one.Address)
	}
	if len(all) == 0 {
		return "nobody"
	}
	return shorten(strings.Join(all, ", "))
}
