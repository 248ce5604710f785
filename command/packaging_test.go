package command

import (
	"blueprintd/blueprint/document"
	"blueprintd/tests/process"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPackagingVariables checks that the variables and commands in the packaging files
// exist.
func TestPackagingVariables(t *testing.T) {
	t.Parallel()
	app := application(Program{}, nil, nil, nil)
	var known []string
	for _, flag := range find(app.Commands, "serve").Flags {
		known = append(known, variableOf(flag.Names()[0]))
	}
	entries, err := os.ReadDir("../packaging")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`\bBLUEPRINTD_[A-Z_]*[A-Z]\b`)
	called := regexp.MustCompile(`["/]blueprintd"?,? "?([a-z-]+)"?\]`)
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		path := filepath.Join("..", "packaging", entry.Name())
		text := readText(t, path)
		for _, name := range variable.FindAllString(text, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s names %s, which no flag of serve has", path, name)
			}
		}
		for _, called := range called.FindAllStringSubmatch(text, -1) {
			if find(app.Commands, called[1]) == nil {
				t.Errorf("%s calls %s, which is no command", path, called[1])
			}
		}
	}
	for _, name := range []string{"EPHEMERAL", "API_KEY", "CLOCK", "SANDBOX", "SEED_IDS", "RATE_LIMIT", "ALLOW_NET"} {
		if !slices.Contains(known, "BLUEPRINTD_"+name) {
			t.Errorf("a service container cannot be given BLUEPRINTD_%s, want %q in it", name, "BLUEPRINTD_"+name)
		}
	}
}

// TestPackagingGitHub reads the workflow as GitHub does.
func TestPackagingGitHub(t *testing.T) {
	t.Parallel()
	workflow := yamlFile(t, "../packaging/github-service.yml")
	service := process.At(workflow, "jobs.test.services.blueprintd").(process.Object)
	for name, value := range service["env"].(process.Object) {
		if _, isText := value.(string); !isText || !strings.HasPrefix(name, "BLUEPRINTD_") {
			t.Errorf("%s: %v must be a text", name, value)
		}
	}
	if options := service["options"].(string); !strings.Contains(options, "--health-interval") || strings.Contains(options, "--health-cmd") {
		t.Errorf("options: %s, want \"--health-interval\" in it and no \"--health-cmd\"", options)
	}
	if key := process.At(workflow, "jobs.test.env.KEY"); key != process.At(service, "env.BLUEPRINTD_API_KEY") {
		t.Errorf("the steps have the key %v", key)
	}
}

// TestPackagingImage compares the Containerfile with the script that builds the same image.
func TestPackagingImage(t *testing.T) {
	t.Parallel()
	var recipes [2][]string
	for i, path := range []string{"../packaging/Containerfile", "../packaging/Dockerfile"} {
		_, last, _ := strings.Cut(readText(t, path), "FROM scratch\n")
		for line := range strings.SplitSeq(last, "\n") {
			word, _, _ := strings.Cut(line, " ")
			if slices.Contains([]string{"ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"}, word) {
				recipes[i] = append(recipes[i], line)
			}
		}
	}
	if !slices.Equal(recipes[0], recipes[1]) || len(recipes[0]) != 9 {
		t.Errorf("the recipes differ:\n%q\n%q", recipes[0], recipes[1])
	}
	compose := yamlFile(t, "../packaging/compose.yaml")
	check, err := json.Marshal(process.At(compose, "services.blueprintd.healthcheck.test"))
	if err != nil {
		t.Fatal(err)
	}
	if test := string(check); !strings.Contains(recipes[0][6], strings.TrimPrefix(strings.ReplaceAll(test, ",", ", "), `["CMD", `)) {
		t.Errorf("compose checks with %s, the image with %s", test, recipes[0][6])
	}
}

// TestPackagingCluster checks that the examples with several processes name existing flags, and
// that each process has a name of its own.
func TestPackagingCluster(t *testing.T) {
	t.Parallel()
	flags := map[string]bool{}
	for _, flag := range serveFlags() {
		flags["BLUEPRINTD_"+strings.ToUpper(strings.ReplaceAll(flag.Names()[0], "-", "_"))] = true
	}
	for _, name := range []string{"compose.cluster.yaml", "kubernetes.yaml", "blueprintd@.service"} {
		t.Run(name, func(t *testing.T) {
			text := readText(t, "../packaging/"+name)
			for _, variable := range regexp.MustCompile(`BLUEPRINTD_[A-Z_]+`).FindAllString(text, -1) {
				if !flags[variable] {
					t.Errorf("there is no flag for %s", variable)
				}
			}
			if !strings.Contains(text, "--node-name") && !strings.Contains(text, "BLUEPRINTD_NODE_NAME") {
				t.Error("the processes have no names")
			}
		})
	}
	names := map[any]bool{}
	compose := yamlFile(t, "../packaging/compose.cluster.yaml")
	for _, service := range []string{"a", "b", "c"} {
		names[process.At(compose, "services."+service+".environment.BLUEPRINTD_NODE_NAME")] = true
	}
	if len(names) != 3 || names[nil] {
		t.Errorf("the names are %v, want three different ones", names)
	}
}

func yamlFile(t *testing.T, path string) process.Object {
	t.Helper()
	doc, err := document.Parse(path, []byte(readText(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Value.(process.Object)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
