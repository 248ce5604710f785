// Package cassette keeps what a run exchanged with other services in a file, and
// gives it back in place of the network, so that the run can be repeated without
// one.
//
// A cassette is JSON:
//
//	{"format": "blueprintd-cassette/1",
//	 "exchanges": [ ...blueprint.Exchange ],
//	 "connections": {id: {"name", "type", "config"}}}
//
// The connections hold no secrets. What stands as "***", alone or inside a text,
// was a secret when it was recorded, and matches anything.
//
// # Which exchange answers
//
// A node is answered from the exchanges of its own address, in their order: with
// the first unused one of the same method and URL, else with the first unused
// one. A node that has none is answered by any unused exchange of the same
// method and URL. Each answers once. What a node asks beyond that fails it with
// the code not_recorded.
package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
)

// Format is what a cassette calls itself.
const Format = recording.CassetteFormat

// The bounds of a cassette.
const (
	MaxSize      = 64 << 20 // bytes
	MaxExchanges = 100_000
)

// Cassette is what was recorded; the files of runs hold the same.
type Cassette = recording.Cassette

// Connection is a connection that the run opened, without its secrets.
type Connection = recording.Connection

// New makes a cassette.
func New(exchanges []blueprint.Exchange, connections map[string]Connection) *Cassette {
	if exchanges == nil {
		exchanges = []blueprint.Exchange{}
	}
	if connections == nil {
		connections = map[string]Connection{}
	}
	return &Cassette{Format: Format, Exchanges: exchanges, Connections: connections}
}

// Read reads a cassette. Errors are CodeBadRequest and say where.
func Read(data []byte) (*Cassette, error) {
	if len(data) > MaxSize {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is larger than %d MiB", MaxSize>>20)
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is not JSON: %s", err)
	}
	return From(value)
}

// From reads a cassette that was decoded already.
func From(value any) (*Cassette, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong("", "must be an object")
	}
	if format, _ := object["format"].(string); format != Format {
		return nil, wrong("format", fmt.Sprintf("must be %q", Format))
	}
	list, ok := object["exchanges"].([]any)
	switch {
	case !ok:
		return nil, wrong("exchanges", "must be an array")
	case len(list) > MaxExchanges:
		return nil, wrong("exchanges", fmt.Sprintf("must hold at most %d", MaxExchanges))
	}
	c := New(make([]blueprint.Exchange, 0, len(list)), nil)
	for i, element := range list {
		var x blueprint.Exchange
		if err := convert(element, &x); err != nil {
			return nil, wrong(fmt.Sprintf("exchanges[%d]", i), err.Error())
		}
		switch {
		case x.Request.Method == "" || x.Request.URL == "":
			return nil, wrong(fmt.Sprintf("exchanges[%d].request", i), "needs method and url")
		case x.Response != nil && (x.Response.Status < 100 || x.Response.Status > 999):
			return nil, wrong(fmt.Sprintf("exchanges[%d].response.status", i), "must be from 100 to 999")
		}
		c.Exchanges = append(c.Exchanges, x)
	}
	if given := object["connections"]; given != nil {
		if err := convert(given, &c.Connections); err != nil {
			return nil, wrong("connections", err.Error())
		}
	}
	return c, nil
}

// convert decodes a plain JSON value into a struct, numbers with their digits.
func convert(value, into any) error {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("has another shape: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func wrong(where, message string) error {
	if where != "" {
		where += ": "
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "the cassette's %s%s", where, message)
}
