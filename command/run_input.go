package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/testsuite"
)

// loadForRun reads a file that is fit to run, and the blueprints that it refers
// to, by id; files are all of them.
func loadForRun(c *cli.Context, name string) (b *project.Blueprint, others map[string]*blueprint.Definition, files *project.Followed, err error) {
	const hint = "mend the file; blueprintd validate shows all that is wrong"
	if testsuite.IsTestFile(name) {
		return nil, nil, nil, usage("blueprintd test "+blueprint.ShellWord(name), "%s is a test file and not a blueprint", name)
	}
	b, issues, err := project.ReadFile(&project.Inputs{Stdin: c.App.Reader}, name)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, nil, nil, usage(hint, "%s", syntax.Error())
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var bad []blueprint.Issue
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning {
			bad = append(bad, issue)
		}
	}
	if len(bad) > 0 {
		pointOut(c.App.ErrWriter, b, bad)
		return nil, nil, nil, usage(hint, "%s has %s", b.Document.Name, blueprint.Counted(len(bad), "error"))
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil || len(m.Nodes) == 0 {
		return nil, nil, nil, usage("add a node under blueprint_map.nodes", "%s has no nodes to run", b.Document.Name)
	}
	files = project.Follow(name, name, b)
	others, wrong := files.Connect()
	if wrong != "" {
		fmt.Fprint(c.App.ErrWriter, wrong)
		return nil, nil, nil, usage(hint, "%s refers to what cannot be run", b.Document.Name)
	}
	return b, others, files, nil
}

// maxInputFile bounds a file with input data, in bytes.
const maxInputFile = 64 << 20

// inputHint shows how input data is given.
const inputHint = `--input '{"name": "World"}'`

// inputHintFor tells what to change on the command line for a run that was
// refused.
func inputHintFor(refused *blueprint.Error) string {
	if len(refused.Issues) > 0 && len(refused.Issues[0].Path) > 0 && refused.Issues[0].Path[0] == "variables" {
		return "pass variables with --var NAME=VALUE"
	}
	if strings.HasPrefix(refused.Message, "inputData") {
		return inputHint
	}
	return "mend the file; blueprintd validate shows all that is wrong"
}

// parseVars reads NAME=VALUE pairs by the declared types; what is not declared
// is a string. source is the flag or environment variable that they are from.
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

func allowNetFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow-net", Usage: "let outbound nodes reach this private `CIDR` range; may be repeated"}
}

// prefixes reads the values of a flag that takes address ranges.
func prefixes(flag, source string, texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, alone := netip.ParseAddr(text)
			if alone != nil {
				return nil, usage("--"+flag+" 10.0.0.0/8", "%s %s: write an address range in CIDR form", source, text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
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
			return nil, usage("write one of the two into a file", "%s: standard input is the blueprint already", source)
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

// unusedVars warns of variables that are neither declared nor named anywhere in the
// blueprint.
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
			fmt.Fprintf(out, "warning: --var %s: the blueprint uses no such variable%s\n", blueprint.OneLine(name), blueprint.DidYouMean(name, known))
		}
	}
}
