package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// The media types of forms (HTML, section 4.10.21.6).
const (
	URLEncoded = "application/x-www-form-urlencoded"
	Multipart  = "multipart/form-data"
)

// Media returns the media type of a submitted form and its boundary, "" for other bodies.
func Media(contentType []string) (media, boundary string) {
	if len(contentType) == 1 && !strings.EqualFold(contentType[0], "application/json") {
		kind, parameters, err := mime.ParseMediaType(contentType[0])
		if err == nil && (kind == URLEncoded || kind == Multipart) {
			return kind, parameters["boundary"]
		}
	}
	return "", ""
}

// Fields that every form has. Their names cannot be those of properties.
const (
	TicketName = "_ticket"
	trapName   = "_leave_empty" // people do not see it, programs fill it in
)

// Submission is what a browser sent.
type Submission struct {
	Values url.Values
	Files  map[string][]blueprint.File // by the names of their fields
}

// IsTrapped reports whether a program filled in the field that people do not see.
func (s *Submission) IsTrapped() bool { return s.Values.Get(trapName) != "" }

// maxParts limits the parts of a multipart form. It is below the limit for the parts of a
// mail, whose reader opens the files of both.
const maxParts = 90

// ErrUnreadable is returned for a body that is not that of a form.
var ErrUnreadable = blueprint.Errorf(blueprint.CodeBadRequest, "the form cannot be read").WithReason(blueprint.ReasonBody)

// Header precedes a stored multipart body, which is then a MIME entity like a stored mail:
// files of both are read in one way.
func Header(contentType string) []byte {
	return []byte("MIME-Version: 1.0\r\nContent-Type: " + contentType + "\r\n\r\n")
}

// Read parses a body of a form, as it is stored.
func Read(media, boundary string, body []byte) (*Submission, *blueprint.Error) {
	if media == URLEncoded {
		values, err := url.ParseQuery(string(body))
		if err != nil || !validValues(values) {
			return nil, ErrUnreadable
		}
		return &Submission{Values: values}, nil
	}
	if _, rest, found := bytes.Cut(body, []byte("\r\n\r\n")); found && bytes.HasPrefix(body, []byte("MIME-Version:")) {
		body = rest
	}
	s := &Submission{Values: url.Values{}, Files: map[string][]blueprint.File{}}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for index := 0; ; index++ {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(part)
		}
		if err != nil || index >= maxParts {
			return nil, ErrUnreadable
		}
		name := part.FormName()
		contentType := strings.ToLower(part.Header.Get("Content-Type"))
		if strings.HasPrefix(contentType, "multipart/") {
			return nil, ErrUnreadable // parts within parts would be counted differently when a file is opened
		}
		kind, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			kind = "application/octet-stream"
		}
		_, parameters, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if _, isFile := parameters["filename"]; !isFile {
			s.Values.Add(name, string(content))
		} else if file := part.FileName(); file != "" {
			s.Files[name] = append(s.Files[name], blueprint.File{Part: index, Name: file, ContentType: kind, Size: int64(len(content))})
		}
	}
	if !validValues(s.Values) {
		return nil, ErrUnreadable
	}
	return s, nil
}

func validValues(values url.Values) bool {
	for name, list := range values {
		if !utf8.ValidString(name) || slices.ContainsFunc(list, func(value string) bool { return !utf8.ValidString(value) }) {
			return false
		}
	}
	return true
}

// Input returns the input that a submission is for a form. An empty field is absent. Values
// that do not match the type of their property stay texts, which the schema refuses.
func (s *Submission) Input(fields []Field, addFile func(blueprint.File) map[string]any) map[string]any {
	input := map[string]any{}
	for i := range fields {
		f := &fields[i]
		text := strings.ReplaceAll(s.Values.Get(f.Name), "\r\n", "\n")
		switch f.Control {
		case "json":
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			input[f.Name] = text // which the schema refuses unless it is a string
			if value, err := blueprint.Decode([]byte(text)); err == nil {
				input[f.Name] = value
			}
		case "checkbox":
			input[f.Name] = s.Values.Has(f.Name)
		case "choices":
			list := make([]any, 0, len(s.Values[f.Name]))
			for _, value := range s.Values[f.Name] {
				list = append(list, value)
			}
			input[f.Name] = list
		case "file":
			if files := s.Files[f.Name]; len(files) > 0 {
				input[f.Name] = addFile(files[0])
			}
		case "files":
			list := []any{}
			for _, file := range s.Files[f.Name] {
				list = append(list, addFile(file))
			}
			input[f.Name] = list
		default:
			if text == "" {
				continue
			}
			input[f.Name] = text
			if f.Control == "number" || f.numbers {
				if number, err := blueprint.Decode([]byte(strings.TrimSpace(text))); err == nil {
					if _, ok := number.(json.Number); ok {
						input[f.Name] = number
					}
				}
			}
		}
	}
	return input
}
