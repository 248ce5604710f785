package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
)

func commandValidate() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "tell what is wrong with blueprint files, without running them", ArgsUsage: "FILE...",
		Description: "Prints file:line:column: message for each problem. Exits with 1 when there is an error; warnings alone leave it at 0.",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usage("blueprintd validate my.blueprint.yaml", "name at least one file")
			}
			bad := false
			for _, name := range c.Args().Slice() {
				wrong, err := validateFile(c.App.Writer, name)
				if err != nil {
					return err
				}
				bad = bad || wrong
			}
			if bad {
				return &exit{code: exitFailed}
			}
			return nil
		},
	}
}

// validateFile prints the problems of one file and tells whether any of them
// is an error.
func validateFile(out io.Writer, name string) (bad bool, err error) {
	b, issues, err := readBlueprint(name)
	var syntax *file.SyntaxError
	if errors.As(err, &syntax) {
		_, err = fmt.Fprintln(out, syntax.Error())
		return true, err
	}
	if err != nil {
		return false, err
	}
	for _, issue := range issues {
		bad = bad || issue.Severity != blueprint.SeverityWarning
		if _, err := fmt.Fprintln(out, b.document.Point(issue)); err != nil {
			return bad, err
		}
	}
	return bad, nil
}

// blueprintFile is a parsed blueprint file.
type blueprintFile struct {
	document    *file.Document
	title       string
	description string
	tags        []string
	variables   []any
	m           any // the map
	triggers    []triggerEntry
}

type triggerEntry struct {
	kind   string
	config map[string]any
	active bool
}

// readBlueprint reads a blueprint file and tells all that is wrong with it. Its
// errors are *file.SyntaxError, and usage errors for a file that cannot be read.
func readBlueprint(name string) (*blueprintFile, []blueprint.Issue, error) {
	data, err := readFile(name, file.MaxSize)
	if err != nil {
		return nil, nil, usage("check the path", "%s cannot be read: %s", name, cause(err))
	}
	document, err := file.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	r := &fileReader{b: &blueprintFile{document: document}}
	r.read()
	return r.b, r.issues, nil
}

// cause gives the last error of a chain, without the path that is named already.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// readFile reads a regular file of at most a number of bytes.
func readFile(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return data, err
}
