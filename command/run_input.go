package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/testsuite"
)

// fixHint is the hint for an invalid blueprint file.
const fixHint = "fix the file; run blueprintd validate for all errors"

// loadForRun reads a blueprint file that can be run. others are the blueprints to which
// it refers, by id, and files are all of them. Errors in the file are printed.
func loadForRun(c *cli.Context, name string) (b *project.Blueprint, others map[string]*blueprint.Definition, files *project.Followed, err error) {
	if testsuite.IsTestFile(name) {
		return nil, nil, nil, usage("blueprintd test "+blueprint.ShellWord(name), "%s is a test file, not a blueprint", name)
	}
	b, issues, err := project.ReadFile(&project.Inputs{Stdin: c.App.Reader}, name)
	if err != nil {
		return nil, nil, nil, syntaxError(err, fixHint)
	}
	if bad := project.Errors(issues); len(bad) > 0 {
		pointOut(c.App.ErrWriter, b, bad)
		return nil, nil, nil, usage(fixHint, "%s has %s", b.Document.Name, blueprint.Counted(len(bad), "error"))
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil || len(m.Nodes) == 0 {
		return nil, nil, nil, usage("add a node under blueprint_map.nodes", "%s has no nodes to run", b.Document.Name)
	}
	files = project.Follow(name, name, b)
	others, wrong := files.Connect()
	if wrong != "" {
		fmt.Fprint(c.App.ErrWriter, wrong)
		return nil, nil, nil, usage(fixHint, "%s refers to files that cannot be run", b.Document.Name)
	}
	return b, others, files, nil
}

// maxInputFile is the size of the largest file of input data, in bytes.
const maxInputFile = 64 << 20

const inputHint = `--input '{"name": "World"}'`

// inputHintFor returns the hint for a run that the engine refused.
func inputHintFor(refused *blueprint.Error) string {
	if len(refused.Issues) > 0 && len(refused.Issues[0].Path) > 0 && refused.Issues[0].Path[0] == "variables" {
		return "pass variables with --var NAME=VALUE"
	}
	if strings.HasPrefix(refused.Message, "inputData") {
		return inputHint
	}
	return fixHint
}

// parseVars reads NAME=VALUE pairs by the declared types; undeclared variables are
// strings. source is the flag or environment variable with the pairs.
func parseVars(source string, declared []blueprint.Variable, pairs []string) (map[string]any, error) {
	types := map[string]blueprint.VariableType{}
	for _, variable := range declared {
		types[variable.Name] = variable.Type
	}
	out := map[string]any{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !utf8.ValidString(pair) {
			return nil, usage("--var name=World", "%s %q: is not valid UTF-8", source, pair)
		}
		if !ok || name == "" {
			return nil, usage("--var name=World", "%s %s: write NAME=VALUE", source, pair)
		}
		value, err := parseVar(source, name, types[name], text)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func parseVar(source, name string, kind blueprint.VariableType, text string) (any, error) {
	value, err := blueprint.Decode([]byte(text))
	switch kind {
	case blueprint.VariableNumber:
		if _, ok := value.(json.Number); !ok {
			return nil, usage("--var "+name+"=1.5", "%s %s: must be a number such as 1.5", source, name)
		}
	case blueprint.VariableBoolean:
		if _, ok := value.(bool); !ok {
			return nil, usage("--var "+name+"=true", "%s %s: must be true or false", source, name)
		}
	case blueprint.VariableJSON:
		if err != nil {
			return nil, usage(`strings inside JSON need quotes: --var 'list=["a"]'`, "%s %s: the variable is declared as %s: %s", source, name, kind, err)
		}
	default:
		return text, nil
	}
	return value, nil
}

// prefixes reads a flag with address ranges. A single address is a range too.
func prefixes(c *cli.Context, flag string) (ranges []netip.Prefix, err error) {
	for _, text := range c.StringSlice(flag) {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if address, addressErr := netip.ParseAddr(text); addressErr == nil {
			prefix, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return nil, usage("--"+flag+" 10.0.0.0/8", "%s %s: write an address range in CIDR form", given(c, flag), text)
		}
		ranges = append(ranges, prefix.Masked())
	}
	return ranges, nil
}

// parseInput reads the input data: JSON, @FILE, or - for standard input.
func parseInput(c *cli.Context) (any, error) {
	source, text := given(c, "input"), c.String("input")
	name, isFile := strings.CutPrefix(text, "@")
	if text == "-" {
		name, isFile = "-", true
	}
	if isFile {
		if name == "-" && c.Args().First() == "-" {
			return nil, usage("store one of the two in a file", "%s: standard input is already the blueprint", source)
		}
		data, called, err := (&project.Inputs{Stdin: c.App.Reader}).Read(name, maxInputFile)
		if err != nil {
			return nil, usage("--input @data.json", "%s: %s cannot be read: %s", source, called, fileio.Cause(err))
		}
		source, text = source+" "+called, string(data)
	}
	if !utf8.ValidString(text) {
		return nil, usage(inputHint, "%s: is not valid UTF-8", source)
	}
	input, err := blueprint.Decode([]byte(text))
	if err != nil {
		return nil, usage(inputHint, "%s: %s", source, err)
	}
	return input, nil
}

// unusedVars warns of variables that the blueprint neither declares nor mentions.
func unusedVars(out io.Writer, b *project.Blueprint, declared []blueprint.Variable, variables map[string]any) {
	known := make([]string, len(declared))
	for i := range declared {
		known[i] = declared[i].Name
	}
	text, err := blueprint.Encode(b.Map)
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !slices.Contains(known, name) && !bytes.Contains(text, []byte(name)) {
			fmt.Fprintf(out, "warning: --var %s: the blueprint does not use this variable%s\n", blueprint.OneLine(name), blueprint.DidYouMean(name, known))
		}
	}
}
