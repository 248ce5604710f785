package expression

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// trim takes blanks, or the characters of a second text, off both ends.
func trim(i *invocation) (any, error) {
	texts, err := i.texts(len(i.arguments))
	if err != nil {
		return nil, err
	}
	if len(texts) == 1 {
		return strings.TrimSpace(texts[0]), nil
	}
	// Each character may be looked for in all of the second text.
	if err := i.work(len(texts[0]) * (1 + len(texts[1])/16)); err != nil {
		return nil, err
	}
	return strings.Trim(texts[0], texts[1]), nil
}

// trimEnd is trimPrefix and trimSuffix; without a second argument they take off
// one blank.
func trimEnd(i *invocation) (any, error) {
	texts, err := i.texts(len(i.arguments))
	if err != nil {
		return nil, err
	}
	texts = append(texts, " ")
	if i.name == "trimPrefix" {
		return strings.TrimPrefix(texts[0], texts[1]), nil
	}
	return strings.TrimSuffix(texts[0], texts[1]), nil
}

// changeCase is upper and lower.
func changeCase(i *invocation) (any, error) {
	text, err := i.text(0)
	if err != nil {
		return nil, err
	}
	if err := i.work(1 + len(text)/4); err != nil {
		return nil, err
	}
	if err := i.memory(3 * len(text)); err != nil { // some letters grow
		return nil, err
	}
	if i.name == "upper" {
		return strings.ToUpper(text), nil
	}
	return strings.ToLower(text), nil
}

// split is split and splitAfter, with at most so many parts.
func split(i *invocation) (any, error) {
	texts, err := i.texts(2)
	if err != nil {
		return nil, err
	}
	limit := int64(-1)
	if i.has(2) {
		if limit, err = i.whole(2); err != nil {
			return nil, err
		}
	}
	count := int64(strings.Count(texts[0], texts[1])) + 1
	if limit >= 0 {
		count = min(count, limit)
	}
	if err := i.memory(int(count) * 32); err != nil { // the parts, before they become values
		return nil, err
	}
	cut := strings.SplitN
	if i.name == "splitAfter" {
		cut = strings.SplitAfterN
	}
	parts := cut(texts[0], texts[1], int(min(limit, count)))
	result, err := i.list(len(parts))
	if err != nil {
		return nil, err
	}
	for position, text := range parts {
		result[position] = text
	}
	return result, i.work(len(parts))
}

// replace replaces every part, or the first so many.
func replace(i *invocation) (any, error) {
	texts, err := i.texts(3)
	if err != nil {
		return nil, err
	}
	limit := int64(-1)
	if i.has(3) {
		if limit, err = i.whole(3); err != nil {
			return nil, err
		}
	}
	count := int64(strings.Count(texts[0], texts[1]))
	if limit >= 0 {
		count = min(count, limit)
	}
	size := len(texts[0]) + int(count)*len(texts[2])
	if err := i.memory(size); err != nil {
		return nil, err
	}
	if err := i.work(int(count) + size/16); err != nil {
		return nil, err
	}
	return strings.Replace(texts[0], texts[1], texts[2], int(count)), nil
}

func repeat(i *invocation) (any, error) {
	text, err := i.text(0)
	if err != nil {
		return nil, err
	}
	count, err := i.whole(1)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, failf("repeat takes a count from 0")
	}
	count = min(count, maxBytes+1) // more is over the budget anyway
	if text == "" {
		return "", nil
	}
	if err := i.memory(len(text) * int(count)); err != nil {
		return nil, err
	}
	return strings.Repeat(text, int(count)), i.scan(len(text) * int(count))
}

// join joins scalars, with a text between.
func join(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	glue := ""
	if i.has(1) {
		if glue, err = i.text(1); err != nil {
			return nil, err
		}
	}
	if err := i.memory(len(items) * (40 + len(glue))); err != nil {
		return nil, err
	}
	if err := i.work(len(items) * (2 + len(glue)/16)); err != nil {
		return nil, err
	}
	parts, size := make([]string, len(items)), 0
	for position, item := range items {
		switch item.(type) {
		case []any, map[string]any:
			return nil, failf("join takes strings, not %s", kindOf(item))
		}
		if parts[position], err = i.textOf(item); err != nil {
			return nil, err
		}
		size += len(parts[position])
	}
	if err := i.memory(size); err != nil {
		return nil, err
	}
	return strings.Join(parts, glue), i.scan(size)
}

// indexOf is indexOf and lastIndexOf, in characters; -1 when there is none.
func indexOf(i *invocation) (any, error) {
	texts, err := i.texts(2)
	if err != nil {
		return nil, err
	}
	at := 0
	if i.name == "indexOf" {
		at = strings.Index(texts[0], texts[1])
	} else {
		at = strings.LastIndex(texts[0], texts[1])
	}
	if at < 0 {
		return int64(-1), nil
	}
	return int64(utf8.RuneCountInString(texts[0][:at])), nil
}

// hasEnd is hasPrefix and hasSuffix.
func hasEnd(i *invocation) (any, error) {
	texts, err := i.texts(2)
	if err != nil {
		return nil, err
	}
	if i.name == "hasPrefix" {
		return strings.HasPrefix(texts[0], texts[1]), nil
	}
	return strings.HasSuffix(texts[0], texts[1]), nil
}

func toBase64(i *invocation) (any, error) {
	texts, err := i.texts(1)
	if err != nil {
		return nil, err
	}
	if err := i.memory(4 * len(texts[0])); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(texts[0])), nil
}

// fromBase64 decodes text; bytes that are no text cannot be a value.
func fromBase64(i *invocation) (any, error) {
	texts, err := i.texts(1)
	if err != nil {
		return nil, err
	}
	if err := i.memory(2 * len(texts[0])); err != nil {
		return nil, err
	}
	if err := i.work(len(texts[0]) / 8); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(texts[0])
	if err != nil {
		return nil, failf("fromBase64: the text is no base64")
	}
	if !utf8.Valid(data) {
		return nil, failf("fromBase64: the decoded bytes are no text")
	}
	return string(data), nil
}

// fromJSON reads one JSON value. Two bytes of JSON can become an object, so it
// is dear in memory.
func fromJSON(i *invocation) (any, error) {
	texts, err := i.texts(1)
	if err != nil {
		return nil, err
	}
	if err := i.memory(48 * len(texts[0])); err != nil {
		return nil, err
	}
	if err := i.work(len(texts[0])); err != nil {
		return nil, err
	}
	value, err := blueprint.Decode([]byte(texts[0]))
	if err != nil {
		return nil, failf("fromJSON: the text is no JSON value")
	}
	return value, nil
}
