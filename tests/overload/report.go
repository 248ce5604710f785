package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// report is the result of all scenes.
type report struct {
	Began       string   `json:"began"`
	Connections int      `json:"connections"`
	Seconds     float64  `json:"seconds"`
	Seed        uint64   `json:"seed"`
	Scenes      []*scene `json:"scenes"`
	Missed      int      `json:"missed"`
	Folder      string   `json:"folder,omitempty"` // where the databases and logs were kept
}

// scene is the requirements and results of one scene.
type scene struct {
	Name    string   `json:"name"`
	Seconds float64  `json:"seconds"`
	Demands []demand `json:"demands"`
	Notes   []string `json:"notes,omitempty"`
}

// demand is one check.
type demand struct {
	Wanted string `json:"wanted"`
	Saw    string `json:"saw"`
	Met    bool   `json:"met"`
}

func (s *scene) demand(met bool, wanted, saw string, args ...any) {
	s.Demands = append(s.Demands, demand{wanted, fmt.Sprintf(saw, args...), met})
}

func (s *scene) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

func (r *report) add(s *scene) {
	r.Scenes = append(r.Scenes, s)
	for _, d := range s.Demands {
		if !d.Met {
			r.Missed++
		}
	}
}

func (r *report) text() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "scene\twhat is demanded\twhat was seen\t")
	for _, s := range r.Scenes {
		name := s.Name
		for _, d := range s.Demands {
			verdict := "ok"
			if !d.Met {
				verdict = "MISSED"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, d.Wanted, d.Saw, verdict)
			name = ""
		}
		for _, note := range s.Notes {
			fmt.Fprintf(table, "%s\t\t%s\t\n", name, note)
			name = ""
		}
	}
	table.Flush()
	fmt.Fprintf(&out, "\nseed %d, %d connections, %.0f s a scene: ", r.Seed, r.Connections, r.Seconds)
	if r.Missed == 0 {
		out.WriteString("every demand is met\n")
	} else {
		fmt.Fprintf(&out, "%d demands are missed; the databases and the logs are in %s\n", r.Missed, r.Folder)
	}
	return out.String()
}

// mebibytes formats a size.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }
