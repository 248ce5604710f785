// Package cli reads command lines: a tree of commands with flags, which may also be set
// by environment variables, and prints their help.
//
// It does what this program uses of larger libraries. Those print help with
// text/template, which calls methods by name, so that the linker would have to keep every
// exported method of the program.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// App is a program with commands.
type App struct {
	Name, Usage  string
	Commands     []*Command
	Action       func(*Context) error // without a command
	OnUsageError func(*Context, error) error
	Metadata     map[string]any

	Reader            io.Reader
	Writer, ErrWriter io.Writer
}

// Command is a command of an App, or of another command.
type Command struct {
	Name        string
	HelpName    string // with the names of the program and the commands above; set by Run
	Usage       string // one line
	UsageText   string // examples
	Description string
	ArgsUsage   string
	Subcommands []*Command
	Flags       []Flag
	Action      func(*Context) error
	// Complete writes the arguments that may follow, each on a line.
	Complete func(*Context)
	// Help returns the text to show instead of the usual help. Tabs separate columns.
	Help func(*Command) string

	aliases []string
}

// HasName reports whether the command is called by a name.
func (c *Command) HasName(name string) bool {
	return name == c.Name || slices.Contains(c.aliases, name)
}

func (c *Command) names() string { return strings.Join(append([]string{c.Name}, c.aliases...), ", ") }

func (c *Command) find(name string) *Command {
	if i := slices.IndexFunc(c.Subcommands, func(sub *Command) bool { return sub.HasName(name) }); i >= 0 {
		return c.Subcommands[i]
	}
	return nil
}

// Context is one call of a command.
type Context struct {
	context.Context
	App     *App
	Command *Command

	above     *Context
	values    map[string]any  // of the flags, by their names
	set       map[string]bool // flags on the command line or in the environment
	arguments []string
}

// NewContext returns a call of a command without flags or arguments.
func NewContext(app *App, command *Command) *Context {
	c := &Context{Context: context.Background(), App: app, Command: command, values: map[string]any{}, set: map[string]bool{}}
	for _, flag := range command.Flags {
		c.values[flag.Names()[0]] = flag.initial()
	}
	return c
}

// valueOf returns the value of a flag, the zero value where the command has no such flag.
func valueOf[T any](c *Context, name string) T {
	value, _ := c.values[name].(T)
	return value
}

// String returns the value of a StringFlag, "" where the command has none of this name.
func (c *Context) String(name string) string { return valueOf[string](c, name) }

// Bool returns the value of a BoolFlag, false where the command has none of this name.
func (c *Context) Bool(name string) bool { return valueOf[bool](c, name) }

// Int returns the value of an IntFlag, 0 where the command has none of this name.
func (c *Context) Int(name string) int { return valueOf[int](c, name) }

// Float64 returns the value of a Float64Flag, 0 where the command has none of this name.
func (c *Context) Float64(name string) float64 { return valueOf[float64](c, name) }

// Duration returns the value of a DurationFlag, 0 where the command has none of this name.
func (c *Context) Duration(name string) time.Duration { return valueOf[time.Duration](c, name) }

// StringSlice returns the values of a StringSliceFlag, nil where the command has none of
// this name.
func (c *Context) StringSlice(name string) []string { return valueOf[[]string](c, name) }

// IsSet reports whether a flag is on the command line or in the environment.
func (c *Context) IsSet(name string) bool { return c.set[name] }

// Set sets a flag as if it were on the command line.
func (c *Context) Set(name, text string) error {
	flag := FindFlag(c.Command.Flags, name)
	if flag == nil {
		return fmt.Errorf("no such flag -%s", name)
	}
	return c.read(flag, name, text)
}

// Args are the arguments after the flags.
type Args []string

// Args returns the arguments after the flags.
func (c *Context) Args() Args { return c.arguments }

// NArg returns the number of arguments.
func (c *Context) NArg() int { return len(c.arguments) }

// First returns the first argument, "" without any.
func (a Args) First() string {
	if len(a) == 0 {
		return ""
	}
	return a[0]
}

// Slice returns the arguments.
func (a Args) Slice() []string { return a }

// Run runs the command that args name, of which the first is the name of the program. It
// adds the command help to every command, and the flag --help.
func (a *App) Run(ctx context.Context, args []string) error {
	root := &Command{Name: a.Name, HelpName: a.Name, Usage: a.Usage, Subcommands: a.Commands, Action: a.Action}
	root.addHelp()
	a.Commands = root.Subcommands
	return root.run(&Context{Context: ctx, App: a}, args[1:])
}

// addHelp completes a command and those below it.
func (c *Command) addHelp() {
	c.Flags = append(c.Flags, HelpFlag)
	for _, sub := range c.Subcommands {
		sub.HelpName = c.HelpName + " " + sub.Name
		sub.addHelp()
	}
	help := &Command{
		Name: "help", aliases: []string{"h"}, HelpName: c.HelpName + " help", Usage: "Shows a list of commands or help for one command", ArgsUsage: "[command]",
		Flags: []Flag{HelpFlag}, Action: func(call *Context) error { return call.above.help(call.Args().First()) },
	}
	c.Subcommands = append(c.Subcommands, help)
}

// groups reports whether a command has others below it, besides help.
func (c *Command) groups() bool { return len(c.Subcommands) > 1 }

func (c *Command) run(above *Context, args []string) error {
	call := NewContext(above.App, c)
	call.Context, call.above = above.Context, above
	if err := call.parse(args); err != nil {
		return call.App.OnUsageError(call, err)
	}
	if call.Bool(HelpFlag.Name) {
		return call.help(call.Args().First())
	}
	if sub := c.find(call.Args().First()); sub != nil {
		return sub.run(call, call.arguments[1:])
	}
	return c.Action(call)
}

// NoTopicError is the error of a call for help about something else than a command.
type NoTopicError struct{ Topic string }

// Error implements error.
func (e *NoTopicError) Error() string { return fmt.Sprintf("No help topic for '%s'", e.Topic) }

// help prints the help of the called command, or of one below it.
func (c *Context) help(topic string) error {
	if topic == "" {
		return c.PrintHelp()
	}
	if command := c.Command.find(topic); command != nil {
		return c.print(command)
	}
	return &NoTopicError{topic}
}

// PrintHelp prints the help of the called command.
func (c *Context) PrintHelp() error { return c.print(c.Command) }

func (c *Context) print(command *Command) error {
	text := ""
	switch {
	case command.HelpName == c.App.Name:
		text = command.list("[global options] command [command options]", "GLOBAL OPTIONS")
	case command.Help != nil:
		text = command.Help(command)
	default:
		text = command.list("[command options]", "OPTIONS")
	}
	columns := tabwriter.NewWriter(c.App.Writer, 1, 8, 2, ' ', 0)
	if _, err := io.WriteString(columns, text); err != nil {
		return err
	}
	return columns.Flush()
}

// list returns the help of a command that lists the commands below it and its flags.
func (c *Command) list(form, options string) string {
	text := fmt.Sprintf("NAME:\n   %s - %s\n\nUSAGE:\n   %s %s", c.HelpName, c.Usage, c.HelpName, form)
	if c.ArgsUsage != "" {
		text += " " + c.ArgsUsage
	}
	if c.groups() {
		text += "\n\nCOMMANDS:\n"
		for _, sub := range c.Subcommands {
			text += "   " + sub.names() + "\t" + sub.Usage + "\n"
		}
		text = strings.TrimSuffix(text, "\n")
	}
	text += "\n\n" + options + ":\n"
	for _, flag := range c.Flags {
		if flag.IsVisible() {
			text += "   " + flag.String() + "\n"
		}
	}
	return text
}
