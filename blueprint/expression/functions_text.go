package expression

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// trim removes white space, or the characters of a second text, from both ends.
func trim(i *invocation) any {
	texts := i.texts(len(i.arguments))
	if len(texts) == 1 {
		return strings.TrimSpace(texts[0])
	}
	// Each character may be searched for in all of the second text.
	i.work(len(texts[0]) * (1 + len(texts[1])/16))
	return strings.Trim(texts[0], texts[1])
}

// trimEnd is trimPrefix and trimSuffix; the default of the second argument is one space.
func trimEnd(i *invocation) any {
	texts := i.texts(len(i.arguments))
	texts = append(texts, " ")
	if i.name == "trimPrefix" {
		return strings.TrimPrefix(texts[0], texts[1])
	}
	return strings.TrimSuffix(texts[0], texts[1])
}

// changeCase is upper and lower.
func changeCase(i *invocation) any {
	text := i.text(0)
	i.work(1 + len(text)/4)
	i.memory(3 * len(text))
	if i.name == "upper" {
		return strings.ToUpper(text)
	}
	return strings.ToLower(text)
}

// split is split and splitAfter; the third argument limits the parts.
func split(i *invocation) any {
	texts := i.texts(2)
	limit := int64(-1)
	if i.has(2) {
		limit = i.whole(2)
	}
	count := int64(strings.Count(texts[0], texts[1])) + 1
	if limit >= 0 {
		count = min(count, limit)
	}
	i.memory(int(count) * 32)
	cut := strings.SplitN
	if i.name == "splitAfter" {
		cut = strings.SplitAfterN
	}
	parts := cut(texts[0], texts[1], int(min(limit, count)))
	result := i.list(len(parts))
	for position, text := range parts {
		result[position] = text
	}
	i.work(len(parts))
	return result
}

// replace replaces all occurrences, or as many as the fourth argument says.
func replace(i *invocation) any {
	texts := i.texts(3)
	limit := int64(-1)
	if i.has(3) {
		limit = i.whole(3)
	}
	count := int64(strings.Count(texts[0], texts[1]))
	if limit >= 0 {
		count = min(count, limit)
	}
	size := len(texts[0]) + int(count)*len(texts[2])
	i.memory(size)
	i.work(int(count) + size/16)
	return strings.Replace(texts[0], texts[1], texts[2], int(count))
}

func repeat(i *invocation) any {
	text := i.text(0)
	count := i.whole(1)
	if count < 0 {
		panic(failf("repeat takes a count of at least 0"))
	}
	count = min(count, maxBytes+1) // more exceeds the budget anyway
	if text == "" {
		return ""
	}
	i.memory(len(text) * int(count))
	i.scan(len(text) * int(count))
	return strings.Repeat(text, int(count))
}

// join joins scalars with an optional separator.
func join(i *invocation) any {
	items := i.items(0)
	glue := ""
	if i.has(1) {
		glue = i.text(1)
	}
	i.memory(len(items) * (40 + len(glue)))
	i.work(len(items) * (2 + len(glue)/16))
	parts, size := make([]string, len(items)), 0
	for position, item := range items {
		switch item.(type) {
		case []any, map[string]any:
			panic(failf("join takes strings, not %s", KindOf(item)))
		}
		parts[position] = i.textOf(item)
		size += len(parts[position])
	}
	i.memory(size)
	i.scan(size)
	return strings.Join(parts, glue)
}

// indexOf is indexOf and lastIndexOf, in characters; -1 when not found.
func indexOf(i *invocation) any {
	texts := i.texts(2)
	at := 0
	if i.name == "indexOf" {
		at = strings.Index(texts[0], texts[1])
	} else {
		at = strings.LastIndex(texts[0], texts[1])
	}
	if at < 0 {
		return int64(-1)
	}
	return int64(utf8.RuneCountInString(texts[0][:at]))
}

// hasEnd is hasPrefix and hasSuffix.
func hasEnd(i *invocation) any {
	texts := i.texts(2)
	if i.name == "hasPrefix" {
		return strings.HasPrefix(texts[0], texts[1])
	}
	return strings.HasSuffix(texts[0], texts[1])
}

func toBase64(i *invocation) any {
	texts := i.texts(1)
	i.memory(4 * len(texts[0]))
	return base64.StdEncoding.EncodeToString([]byte(texts[0]))
}

// fromBase64 decodes base64; the result must be UTF-8.
func fromBase64(i *invocation) any {
	texts := i.texts(1)
	i.memory(2 * len(texts[0]))
	i.work(len(texts[0]) / 8)
	data, err := base64.StdEncoding.DecodeString(texts[0])
	if err != nil {
		panic(failf("fromBase64: the text is not base64"))
	}
	if !utf8.Valid(data) {
		panic(failf("fromBase64: the decoded bytes are not UTF-8"))
	}
	return string(data)
}

// fromJSON decodes one JSON value. It spends much memory: two bytes may be an object.
func fromJSON(i *invocation) any {
	texts := i.texts(1)
	i.memory(48 * len(texts[0]))
	i.work(len(texts[0]))
	value, err := blueprint.Decode([]byte(texts[0]))
	if err != nil {
		panic(failf("fromJSON: the text is not a JSON value"))
	}
	return value
}
