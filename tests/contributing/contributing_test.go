package contributing

import (
	"encoding/json"
	"errors"
	"go/format"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// addition is one kind of thing that contributors add. Its new files are in the folder
// of testdata with its name, with the suffix .txt.
type addition struct {
	name    string
	heading string // of its section in docs/contributing.md
	most    int    // files that may be touched by hand
	edits   []edit
}

// edit inserts text after a text that occurs exactly once in a file.
type edit struct{ file, after, text string }

var additions = []addition{
	{
		name: "node-type", heading: "Add a node type", most: 5,
		edits: []edit{
			{"engine/nodes/nodes.go", "\t\tset(),\n", "\t\tshout(),\n"},
			{
				"engine/nodes/nodes_test.go", "\ttests := []struct{ kind, config, want, handle string }{\n",
				"\t\t{\"shout\", `{\"text\":\"Hi {{name}}\"}`, `{\"text\":\"HI ANN\"}`, \"\"},\n",
			},
		},
	},
	{
		name: "procedure", heading: "Add a procedure", most: 5,
		edits: []edit{
			{
				"rpc/blueprints.go", "\t\ttrpc.Query(\"server.getInfo\", blueprint.ScopeRead, s.serverInfo),\n",
				"\t\ttrpc.Query(\"server.echo\", blueprint.ScopeRead, s.echo),\n",
			},
			{
				"tests/describe/words.go", "\t\"node.types\": {\"List the types of nodes, with the schemas of their configs\", ``},\n",
				"\n\t\"server.echo\": {\"Return what is given\", `{\"text\": \"hello\"}`},\n",
			},
			{
				"tests/api/matrix_cases_test.go", "\t{name: \"server.getInfo\", grid: anybody, input: nothing},\n",
				"\t{name: \"server.echo\", grid: anybody, input: func(*target, string) object { return object{\"text\": \"hello\"} }},\n",
			},
		},
	},
	{
		name: "command", heading: "Add a command", most: 3,
		edits: []edit{
			{"command/command.go", "commandServe(), ", "commandGreet(), "},
		},
	},
	{
		name: "trigger-kind", heading: "Add a trigger kind", most: 7,
		edits: []edit{
			{"blueprint/trigger_kind.go", "\tTriggerAPI       TriggerType = \"api\"\n", "\tTriggerButton    TriggerType = \"button\"\n"},
			{"blueprint/trigger_kind.go", "\t{Type: TriggerManual, Source: SourceManual},\n", "\t{Type: TriggerButton, Source: SourceManual, Keys: []string{\"caption\"}},\n"},
			{"triggers/kind.go", "kinds = []*Kind{manualKind(), ", "buttonKind(), "},
			{"triggers/check_test.go", "\t\t{\"manual\", `{}`, \"\"},\n", "\t\t{\"button\", `{\"caption\": 1}`, \"caption: must be a string\"},\n"},
			{"schema.sql", "CHECK (type IN ('manual', ", "'button', "},
			{
				"web/src/pages/triggers/kinds.tsx", "const looks: Record<TriggerType, Partial<Look> & { icon: Icon }> = {\n",
				"  button: { icon: IconHandClick, listensTo: (config) => textOf(config, 'caption') },\n",
			},
			{
				"web/src/pages/triggers/trigger-forms.test.tsx", "const forms: Record<TriggerType, { fill: (user: User) => Promise<void> | void; config: Config }> = {\n",
				"  button: { fill: () => undefined, config: {} },\n",
			},
		},
	},
	{
		name: "trigger-kind-with-address", heading: "Add a trigger kind", most: 7,
		edits: []edit{
			{"blueprint/trigger_kind.go", "\tTriggerAPI       TriggerType = \"api\"\n", "\tTriggerBeacon    TriggerType = \"beacon\"\n"},
			{"blueprint/trigger_kind.go", "\tSourceRedelivery Source = \"redelivery\"\n", "\tSourceBeacon     Source = \"beacon\"\n"},
			{"blueprint/trigger_kind.go", "return []Source{SourceSchedule, ", "SourceBeacon, "},
			{
				"blueprint/trigger_kind.go", "\t{Type: TriggerManual, Source: SourceManual},\n",
				"\t{\n\t\tType: TriggerBeacon, Source: SourceBeacon, Path: \"/beacons/{triggerId}\", Keys: []string{\"place\"},\n" +
					"\t\tOpen: func(map[string]any) bool { return true },\n\t},\n",
			},
			{"triggers/kind.go", "kinds = []*Kind{manualKind(), ", "beaconKind(), "},
			{"triggers/check_test.go", "\t\t{\"manual\", `{}`, \"\"},\n", "\t\t{\"beacon\", `{\"place\": 1}`, \"place: must be a string\"},\n"},
			{"schema.sql", "CHECK (type IN ('manual', ", "'beacon', "},
			{"schema.sql", "CHECK (source = 'webhook' OR ", "source = 'beacon' OR "},
			{
				"web/src/pages/triggers/kinds.tsx", "const looks: Record<TriggerType, Partial<Look> & { icon: Icon }> = {\n",
				"  beacon: { icon: IconWebhook, listensTo: (config) => textOf(config, 'place') },\n",
			},
			{
				"web/src/pages/triggers/trigger-forms.test.tsx", "const forms: Record<TriggerType, { fill: (user: User) => Promise<void> | void; config: Config }> = {\n",
				"  beacon: { fill: () => undefined, config: {} },\n",
			},
		},
	},
	{
		name: "connection-type", heading: "Add a connection type", most: 5,
		edits: []edit{
			{"blueprint/connection_kind.go", "\tConnectionSlack      ConnectionType = \"slack\"\n", "\tConnectionCalendar   ConnectionType = \"calendar\"\n"},
			{
				"blueprint/connection_kind.go", "var connectionKinds = []connectionKind{\n",
				`	{
		of: ConnectionCalendar, title: "Calendar", doc: "A server of calendars.",
		fields: []configField{
			{
				name: "baseUrl", required: true, moves: anyChange, check: webAddress,
				title: "Base URL", doc: "The address of the server.", kind: "url",
			},
			{
				name: "token", required: true, secret: true, check: headerSecret,
				title: "Token", doc: "Authenticates the client.", kind: "secret",
			},
		},
		placeholder: func() map[string]any {
			return map[string]any{"baseUrl": "https://calendar.example.com", "token": placeholderSecret}
		},
	},
`,
			},
			{
				"blueprint/connection_config_test.go", "\t\"slack\": {`{\"botToken\":\"xoxb-1\"}`, `{\"botToken\":\"xoxb-1\",\"baseUrl\":\"https://slack.example.com/api/\"}`},\n",
				"\n\t\"calendar\": {`{\"baseUrl\":\"https://calendar.example.com\",\"token\":\"t\"}`},\n",
			},
			{
				"connections/open.go", "\tkinds = map[blueprint.ConnectionType]kind{\n",
				`		blueprint.ConnectionCalendar: {
			open: withToken(func(open *blueprint.OpenConnection) authorizer {
				open.Auth = "bearer"
				return withHeader("Authorization", "Bearer "+textAt(open.Config, "token"))
			}),
		},
`,
			},
			{"schema.sql", "'oauth2', 'http', 'smtp', 'slack'", ", 'calendar'"},
			{"web/src/pages/connections/types.tsx", "  IconBrandSlack,\n", "  IconCalendar,\n"},
			{
				"web/src/pages/connections/types.tsx", "const icons = new Map(\n  Object.entries<Icon>({\n", "    calendar: IconCalendar,\n",
			},
		},
	},
	{
		name: "page", heading: "Add a page of the dashboard", most: 3,
		edits: []edit{
			{
				"web/src/routes.ts", "export const routes: Route[] = [\n",
				"  route('/settings/hello', () => import('./pages/settings/hello-page'), { menu: 'settings', title: routesText.hello }),\n",
			},
			{"web/src/text/shell.ts", "export const routesText = {\n", "  hello: 'Hello',\n"},
		},
	},
}

// overlay holds the files that additions write or change, in the form of go build's
// flag -overlay: the build sees them in place of the files of the repository, and
// everything that they leave alone comes from the build cache.
type overlay struct {
	root  string
	files map[string]string // text by path below root
}

// TestAdditions does what docs/contributing.md says, counts the files that this takes,
// and runs the result.
func TestAdditions(t *testing.T) {
	o := &overlay{root: process.File(t, ""), files: map[string]string{}}
	guide, err := os.ReadFile(filepath.Join(o.root, "docs", "contributing.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range additions {
		t.Run(a.name, func(t *testing.T) {
			files := a.apply(t, o)
			t.Logf("%d files by hand: %s", len(files), strings.Join(files, ", "))
			if len(files) > a.most {
				t.Errorf("%d files by hand, want at most %d: make one table of what several files say", len(files), a.most)
			}
			a.checkSection(t, string(guide), files)
		})
	}
	if t.Failed() {
		return
	}
	replaced := o.write(t)
	// Nearly every package is compiled for this test alone, so without optimization.
	flags := []string{"-overlay", replaced, "-gcflags=blueprintd/...=-N -l -dwarf=0"}
	test := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"test", "-vet=off"}, flags, []string{
		"-run", "^(TestRun|TestCheck|TestCheckConnectionAccepts|TestConfigSchemas|TestTriggerEndpoints|TestScripts)$",
		"./engine/nodes", "./triggers", "./blueprint", "./tests/describe", ".",
	})...)
	test.Dir, test.Env = o.root, append(os.Environ(), "CGO_ENABLED=0") // as BuildIn, so that both compile the packages once
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("the test tables with the new rows: %v\n%s", err, out)
	}
	binary := filepath.Join(t.TempDir(), "blueprintd.exe") // a name that Windows runs too
	if err := process.BuildIn(t.Context(), o.root, binary, append(flags, "-ldflags=-s -w", "-buildvcs=false", ".")...); err != nil {
		t.Fatal(err)
	}
	use(t, binary)
}

// read returns the present text of a file of the repository.
func (o *overlay) read(name string) (string, error) {
	if text, changed := o.files[name]; changed {
		return text, nil
	}
	data, err := os.ReadFile(filepath.Join(o.root, filepath.FromSlash(name)))
	return strings.ReplaceAll(string(data), "\r\n", "\n"), err
}

// write writes the files and the JSON that names them, and returns the path of the JSON.
func (o *overlay) write(t *testing.T) string {
	t.Helper()
	folder, replace := t.TempDir(), map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(o.files)) {
		data := []byte(o.files[name])
		if strings.HasSuffix(name, ".go") {
			formatted, err := format.Source(data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			data = formatted
		}
		path := filepath.Join(folder, strconv.Itoa(i)+filepath.Ext(name))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(o.root, filepath.FromSlash(name))] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	path := filepath.Join(folder, "overlay.json")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// apply makes an addition and returns the files touched.
func (a *addition) apply(t *testing.T, o *overlay) (touched []string) {
	t.Helper()
	folder := filepath.Join("testdata", a.name)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && entry.IsDir() {
			return nil // an addition may have no files of its own
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, strings.TrimSuffix(name, ".txt"))
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		touched = append(touched, relative)
		o.files[relative] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range a.edits {
		text, err := o.read(e.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text, e.after); n != 1 {
			t.Fatalf("%s has the following %d times, want once; say in tests/contributing and docs/contributing.md what to touch now:\n%s", e.file, n, e.after)
		}
		o.files[e.file] = strings.Replace(text, e.after, e.after+e.text, 1)
		if !slices.Contains(touched, e.file) {
			touched = append(touched, e.file)
		}
	}
	return touched
}

var numbered = regexp.MustCompile(`(?m)^\d+\. `)

// checkSection checks that the section of an addition has at most five numbered lines,
// names each file, and says what follows from a change of the schema or the dashboard.
func (a *addition) checkSection(t *testing.T, guide string, files []string) {
	t.Helper()
	_, section, found := strings.Cut(guide, "\n## "+a.heading+"\n")
	if !found {
		t.Fatalf("docs/contributing.md has no section %q", a.heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	if lines := len(numbered.FindAllString(section, -1)); lines == 0 || lines > 5 {
		t.Errorf("section %q of docs/contributing.md has %d numbered lines, want one to five", a.heading, lines)
	}
	for _, file := range files {
		want := []string{"`" + file + "`"}
		if file == "schema.sql" {
			want = append(want, "(#change-the-schema)")
		}
		if strings.HasPrefix(file, "web/") {
			want = append(want, "`cd web && npm run build`", "`web/dist`")
		}
		for _, text := range want {
			if !strings.Contains(section, text) {
				t.Errorf("section %q of docs/contributing.md, in which %s changes, does not name %s", a.heading, file, text)
			}
		}
	}
}

// use exercises each addition as its users would.
func use(t *testing.T, binary string) {
	t.Helper()
	if r := process.RunProgram(t, binary, "greet", "--name", "Ada"); r.Code != 0 || r.Out != "Hello, Ada!\n" {
		t.Errorf("the command: exit code %d\n%s", r.Code, r.Said())
	}
	if r := process.RunProgram(t, binary, "greet", "--help"); !strings.Contains(r.Out, "blueprintd greet --name Ada") {
		t.Errorf("the help of the command has no example:\n%s", r.Said())
	}
	s := process.ServeProgram(t, binary, nil, "--ephemeral")
	if got := s.Query("server.echo", process.Object{"text": "hello"}); process.At(got, "text") != "hello" {
		t.Errorf("the procedure answered %v, want text hello", got)
	}
	blueprint := s.Create("Shout", process.Node("say", "shout", process.Object{"text": "hello {{inputData.name}}"}))
	trigger := s.Mutate("blueprintTriggers.create", process.Object{"blueprintId": blueprint, "triggerType": "button", "config": process.Object{"caption": "Press"}})
	fired := s.Mutate("blueprintTriggers.fire", process.Object{"triggerId": process.At(trigger, "id"), "inputData": process.Object{"name": "Ada"}})
	run := s.Until(process.At(fired, "executionId").(string), "completed", "failed")
	if text, _ := firstText(run); text != "HELLO ADA" {
		t.Errorf("the run of the new node, by the new trigger, returned %v; want HELLO ADA", run)
	}
	beacon := s.Mutate("blueprintTriggers.create", process.Object{"blueprintId": blueprint, "triggerType": "beacon", "config": process.Object{"place": "roof"}})
	useAddress(t, s, "/beacons/"+process.At(beacon, "id").(string))
	made := s.Mutate("connection.create", process.Object{
		"name": "Team", "type": "calendar", "config": process.Object{"baseUrl": s.Host, "token": "a-token"},
	})
	if process.At(made, "config.token") != nil || process.At(made, "config.baseUrl") != s.Host {
		t.Errorf("the connection is %v, want config.token nil and config.baseUrl %v", made, s.Host)
	}
	tested := s.Mutate("connection.test", process.Object{"id": process.At(made, "id")})
	if message, _ := process.At(tested, "message").(string); message == "" || strings.Contains(message, "does not know") {
		t.Errorf("the connection cannot be opened: %v, want not empty and no \"does not know\"", tested)
	}
	s.Stop()
}

// useAddress starts a run at the address of a trigger and redelivers it.
func useAddress(t *testing.T, s *process.Server, path string) {
	t.Helper()
	status, fired := s.Post(path, "", process.Object{"name": "Bob"})
	if status != http.StatusAccepted {
		t.Fatalf("POST %s: status %d, want 202: %v", path, status, fired)
	}
	again := s.Mutate("blueprintTriggers.redeliver", process.Object{"firingId": process.At(fired, "firingId")})
	for _, id := range []any{process.At(fired, "executionId"), process.At(again, "executionId")} {
		run := s.Until(id.(string), "completed", "failed")
		if text, _ := firstText(run); text != "HELLO BOB" {
			t.Errorf("the run of the trigger with an address returned %v, want HELLO BOB", run)
		}
	}
}

// firstText returns the text in the output of the first step of a run.
func firstText(run process.Object) (text string, ok bool) {
	steps, _ := run["steps"].([]any)
	if len(steps) == 0 {
		return "", false
	}
	text, ok = process.At(steps[0], "output.text").(string)
	return text, ok
}
