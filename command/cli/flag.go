package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flag is one of the types below.
type Flag interface {
	// Names returns the names without dashes, the longest first.
	Names() []string
	// String returns the flag as help shows it: names, a tab, and what it does.
	String() string
	IsVisible() bool
	// TakesValue reports whether the next word of the command line is its value.
	TakesValue() bool
	// Repeatable reports whether each use adds a value.
	Repeatable() bool
	// Variables returns the field with the environment variables.
	Variables() *[]string
	// Section returns the field with the section of the help that shows it.
	Section() *string

	initial() any
	// parse returns the value that a text stands for. after is the value so far, nil for
	// the first text.
	parse(text string, after any, variable bool) (any, error)
}

// Of is a flag with a value of type T.
type Of[T any] struct {
	Name, Usage string   // Usage names the value in backquotes
	Category    string   // of the help
	EnvVars     []string // the first that exists sets the flag; the command line takes precedence
	Value       T        // without the flag
	DefaultText string   // shown in place of Value
	Hidden      bool
	// KeepCommas leaves the commas of a value on the command line alone. Those of other
	// repeatable flags, and of variables, separate values.
	KeepCommas bool
}

// The types of flags.
type (
	StringFlag      = Of[string]
	BoolFlag        = Of[bool]
	IntFlag         = Of[int]
	Float64Flag     = Of[float64]
	DurationFlag    = Of[time.Duration]
	StringSliceFlag = Of[[]string]
)

// HelpFlag prints the help of a command.
var HelpFlag = &BoolFlag{Name: "help", Usage: "show help"}

// Names implements Flag.
func (f *Of[T]) Names() []string {
	if f.Name == HelpFlag.Name {
		return []string{"help", "h"}
	}
	return []string{f.Name}
}

// IsVisible implements Flag.
func (f *Of[T]) IsVisible() bool { return !f.Hidden }

// Variables implements Flag.
func (f *Of[T]) Variables() *[]string { return &f.EnvVars }

// Section implements Flag.
func (f *Of[T]) Section() *string { return &f.Category }

func (f *Of[T]) initial() any { return f.Value }

// TakesValue implements Flag.
func (f *Of[T]) TakesValue() bool {
	_, is := any(f.Value).(bool)
	return !is
}

// Repeatable implements Flag.
func (f *Of[T]) Repeatable() bool {
	_, is := any(f.Value).([]string)
	return is
}

// String implements Flag.
func (f *Of[T]) String() string {
	before, rest, _ := strings.Cut(f.Usage, "`")
	value, after, _ := strings.Cut(rest, "`")
	usage := before + value + after
	if f.TakesValue() && value == "" {
		value = "value"
	}
	names := ""
	for i, name := range f.Names() {
		if i > 0 {
			names += ", "
		}
		if names += dashed(name); f.TakesValue() {
			names += " " + value
		}
	}
	if preset := f.preset(); preset != "" {
		usage += " (default: " + preset + ")"
	}
	if len(f.EnvVars) > 0 {
		before, after := "$", ""
		if runtime.GOOS == "windows" && os.Getenv("PSHOME") == "" {
			before, after = "%", "%"
		}
		usage += " [" + before + strings.Join(f.EnvVars, after+", "+before) + after + "]"
	}
	return names + "\t" + usage
}

// preset returns the value without the flag as help shows it.
func (f *Of[T]) preset() string {
	if f.DefaultText != "" {
		return f.DefaultText
	}
	switch value := any(f.Value).(type) {
	case bool, []string:
		return ""
	case string:
		if value == "" {
			return ""
		}
		return strconv.Quote(value)
	default:
		return fmt.Sprint(value)
	}
}

func (f *Of[T]) parse(text string, after any, variable bool) (value any, err error) {
	switch any(f.Value).(type) {
	case bool:
		return strconv.ParseBool(text)
	case int:
		n, err := strconv.ParseInt(text, 0, strconv.IntSize)
		return int(n), err
	case float64:
		return strconv.ParseFloat(text, 64)
	case time.Duration:
		return time.ParseDuration(text)
	case []string:
		values, _ := after.([]string)
		switch {
		case f.KeepCommas && variable:
			return strings.Split(text, ","), nil
		case f.KeepCommas:
			return append(values, text), nil
		}
		for one := range strings.SplitSeq(text, ",") {
			values = append(values, strings.TrimSpace(one))
		}
		return values, nil
	}
	return text, nil
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// FindFlag returns the flag of a name, nil if there is none.
func FindFlag(flags []Flag, name string) Flag {
	if i := slices.IndexFunc(flags, func(f Flag) bool { return slices.Contains(f.Names(), name) }); i >= 0 {
		return flags[i]
	}
	return nil
}

// FlagError is a mistake in the use of a flag.
type FlagError struct {
	Err      error  // one of the errors below
	Name     string // without dashes; for ErrSyntax the whole word
	Value    string // for ErrValue
	Variable string // that holds the value, "" for the command line
}

// The mistakes of FlagError.
var (
	ErrSyntax  = errors.New("bad flag syntax")
	ErrUnknown = errors.New("unknown flag")
	ErrBare    = errors.New("flag needs a value")
	ErrValue   = errors.New("invalid value")
)

// Error implements error.
func (e *FlagError) Error() string { return fmt.Sprintf("%v: %s", e.Err, e.Name) }

// Unwrap returns the kind of mistake.
func (e *FlagError) Unwrap() error { return e.Err }

// parse reads the environment and the flags at the beginning of args; what follows are
// the arguments.
func (c *Context) parse(args []string) error {
	for _, flag := range c.Command.Flags {
		for _, variable := range *flag.Variables() {
			text, found := os.LookupEnv(variable)
			if !found {
				continue
			}
			name := flag.Names()[0]
			value, err := flag.parse(text, nil, true)
			if err != nil {
				return &FlagError{Err: ErrValue, Name: name, Value: text, Variable: variable}
			}
			c.values[name], c.set[name] = value, true
			break
		}
	}
	given := map[string]bool{}
	for len(args) > 0 {
		word := args[0]
		if len(word) < 2 || word[0] != '-' {
			break
		}
		args = args[1:]
		if word == "--" {
			break
		}
		name := strings.TrimPrefix(word[1:], "-")
		if name == "" || name[0] == '-' || name[0] == '=' {
			return &FlagError{Err: ErrSyntax, Name: word}
		}
		name, text, joined := strings.Cut(name, "=")
		flag := FindFlag(c.Command.Flags, name)
		switch {
		case flag == nil:
			return &FlagError{Err: ErrUnknown, Name: name}
		case joined:
		case !flag.TakesValue():
			text = "true"
		case len(args) == 0:
			return &FlagError{Err: ErrBare, Name: name}
		default:
			text, args = args[0], args[1:]
		}
		if !given[flag.Names()[0]] {
			given[flag.Names()[0]] = true
			c.values[flag.Names()[0]] = nil // not added to those of a variable
		}
		if err := c.read(flag, name, text); err != nil {
			return err
		}
	}
	c.arguments = args
	return nil
}

// read sets a flag to the value that a text stands for.
func (c *Context) read(flag Flag, name, text string) error {
	value, err := flag.parse(text, c.values[flag.Names()[0]], false)
	if err != nil {
		return &FlagError{Err: ErrValue, Name: name, Value: text}
	}
	c.values[flag.Names()[0]], c.set[flag.Names()[0]] = value, true
	return nil
}
