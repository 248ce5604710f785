package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// options are the options of the command line.
type options struct {
	connections int
	seconds     time.Duration
	stops       int
	seed        uint64
	scenes      []string
	keep        bool
	json        bool
	database    string
	binary      string
}

// act plays one scene.
type act struct {
	name string
	play func(*stage, context.Context, *scene) error
}

// scenes are all scenes, in order.
var scenes = []act{
	{"idle", (*stage).playIdle}, {"crowd", (*stage).playCrowd}, {"senders", (*stage).playSenders}, {"readers", (*stage).playReaders},
	{"bodies", (*stage).playBodies}, {"queue", (*stage).playQueue}, {"noisy", (*stage).playNoisy}, {"limit", (*stage).playLimit}, {"stop", (*stage).playStops},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == loadArgument {
		if err := serveLoad(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "load:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	var seconds float64
	var names string
	flag.IntVar(&o.connections, "connections", 10_000, "how many connections the crowd has; the other scenes take a half, a fifth, a fifth")
	flag.Float64Var(&seconds, "seconds", 10, "how long each scene is under load")
	flag.IntVar(&o.stops, "stops", 20, "how often the server is stopped under load")
	flag.Uint64Var(&o.seed, "seed", uint64(now().UnixNano()%1_000_000), "moments of requests and of stops; each run takes another unless it is given")
	flag.StringVar(&names, "scenes", "", "the scenes to play, with commas between; without it all of them")
	flag.BoolVar(&o.keep, "keep", false, "keep the databases and the logs also when all is well")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.StringVar(&o.database, "database", "", "use databases on this PostgreSQL server, a URL without a database, in place of files")
	flag.StringVar(&o.binary, "binary", "", "the server; without it, one is built from the sources here")
	flag.Parse()
	o.seconds = time.Duration(seconds * float64(time.Second))
	wrong := flag.NArg() > 0 || o.connections < 10 || seconds < 1 || o.stops < 1
	if names != "" {
		o.scenes = strings.Split(names, ",")
	}
	for _, name := range o.scenes {
		wrong = wrong || !slices.ContainsFunc(scenes, func(a act) bool { return a.name == name })
	}
	if wrong {
		fmt.Fprintln(os.Stderr, "overload takes flags only, -connections from 10 on, -seconds and -stops from 1 on, and -scenes that exist; see -help")
		os.Exit(2)
	}
	os.Exit(overload(o))
}

// overload plays the scenes and returns the exit code.
func overload(o options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.MkdirTemp("", "overload")
	if err == nil {
		err = raiseFiles(uint64(o.connections) + 2000)
	}
	var r *report
	if err == nil {
		r, err = overloadIn(ctx, o, folder)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "overload: %v\nhint: the databases and the logs are in %s\n", err, cmp.Or(folder, os.TempDir()))
		return 1
	}
	if r.Missed == 0 && !o.keep {
		os.RemoveAll(folder)
	} else {
		r.Folder = folder
	}
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		out.Encode(r)
	} else {
		fmt.Print(r.text())
	}
	if r.Missed > 0 {
		return 1
	}
	return 0
}

func overloadIn(ctx context.Context, o options, folder string) (_ *report, err error) {
	if o.binary, err = process.Program(ctx, o.binary, folder); err != nil {
		return nil, err
	}
	s := &stage{options: o, folder: folder, created: map[string]string{}}
	defer s.close()
	r := &report{Connections: o.connections, Seconds: o.seconds.Seconds(), Seed: o.seed, Began: now().UTC().Format(time.RFC3339)}
	for _, one := range scenes {
		if len(o.scenes) > 0 && !slices.Contains(o.scenes, one.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", one.name)
		began := now()
		played := &scene{Name: one.name}
		if err := one.play(s, ctx, played); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		played.Seconds = now().Sub(began).Seconds()
		r.add(played)
	}
	return r, nil
}
