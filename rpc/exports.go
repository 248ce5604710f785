package rpc

import (
	"context"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/rpc/trpc"
)

type exportStore interface {
	displayStore
	Execution(ctx context.Context, p blueprint.Principal, id string) (stored *blueprint.StoredExecution, canManage bool, err error)
	// VersionContent returns a version with its secrets; the principal must manage the blueprint.
	VersionContent(ctx context.Context, p blueprint.Principal, id, version string) (*blueprint.BlueprintVersion, error)
}

// Exporter exports stored runs as files.
type Exporter struct {
	display
	contents exportStore
	info     func() ServerInfo
}

// NewExporter returns an exporter of the runs in store; info describes the server, which
// is the origin that the files name.
func NewExporter(store exportStore, runs Recordings, catalogue blueprint.Catalogue, info func() ServerInfo) *Exporter {
	return &Exporter{display: display{store, runs, catalogue}, contents: store, info: info}
}

type exchanges struct {
	Recorded  bool                 `json:"recorded"`
	Exchanges []blueprint.Exchange `json:"exchanges"`
}

func (s *Service) executionExchanges(ctx context.Context, caller *trpc.Caller, in executionID) (exchanges, error) {
	stored, _, err := s.Store.Execution(ctx, caller.Principal, in.ID)
	if err != nil {
		return exchanges{}, err
	}
	record, err := s.recording(ctx, caller.Principal, stored)
	if err != nil {
		return exchanges{}, err
	}
	out := exchanges{record.Recorded, record.Exchanges}
	if out.Exchanges == nil {
		out.Exchanges = []blueprint.Exchange{}
	}
	return out, nil
}

func (s *Service) executionExport(ctx context.Context, caller *trpc.Caller, in executionID) (*recording.File, error) {
	return s.Export(ctx, caller.Principal, in.ID)
}

type testFiles struct {
	Files []recording.NamedFile `json:"files"`
}

func (s *Service) executionExportTest(ctx context.Context, caller *trpc.Caller, in executionID) (testFiles, error) {
	files, err := s.ExportTest(ctx, caller.Principal, in.ID)
	return testFiles{files}, err
}

// ExportTest turns a run into a test; see package recording. Errors are those of Export, and
// CodeBadRequest for a fork in which the input of a node was edited.
func (s *Exporter) ExportTest(ctx context.Context, principal blueprint.Principal, id string) ([]recording.NamedFile, error) {
	f, record, err := s.export(ctx, principal, id)
	if err != nil {
		return nil, err
	}
	if edited := record.EditedNodes; len(edited) > 0 {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the input of %s was edited in a fork, which a test cannot do; save a run whose nodes computed it, or a fork with other input data", strings.Join(edited, ", "))
	}
	return f.TestFiles(s.catalogue)
}

// Export returns a run as a file. The file holds the whole blueprint, so the principal
// must manage it: CodeForbidden otherwise.
func (s *Exporter) Export(ctx context.Context, principal blueprint.Principal, id string) (*recording.File, error) {
	f, _, err := s.export(ctx, principal, id)
	return f, err
}

func (s *Exporter) export(ctx context.Context, principal blueprint.Principal, id string) (*recording.File, *blueprint.Recording, error) {
	stored, canManage, err := s.contents.Execution(ctx, principal, id)
	if err != nil {
		return nil, nil, err
	}
	if !canManage {
		return nil, nil, blueprint.Errorf(blueprint.CodeForbidden, "an export holds the whole blueprint; exporting its runs needs the right to manage it")
	}
	record, err := s.recording(ctx, principal, stored)
	if err != nil {
		return nil, nil, err
	}
	if hides(record.PrivateTo, principal) {
		return nil, nil, errHiddenData
	}
	row := &stored.Row
	details, err := s.blueprint(ctx, principal, row.BlueprintID)
	if err != nil {
		return nil, nil, err
	}
	content, err := s.contents.VersionContent(ctx, principal, row.BlueprintID, row.BlueprintVersion)
	if err != nil {
		return nil, nil, err
	}
	info := s.info()
	return recording.Make(recording.Source{
		Recording: record, Connections: s.usedConnections(ctx, principal, record), At: info.Now, Server: info.Version, Sandbox: info.Sandbox,
		Blueprint: recording.Blueprint{
			ID: row.BlueprintID, Version: row.BlueprintVersion, Title: details.Title, Description: details.Description, Tags: details.Tags,
			Variables: content.EnvironmentVariables, Map: content.BlueprintMap,
		},
	}), record, nil
}

// usedConnections returns the connections of a run that the principal may use. Of others
// the file has the type alone.
func (s *Exporter) usedConnections(ctx context.Context, principal blueprint.Principal, record *blueprint.Recording) map[string]recording.Connection {
	known := map[string]recording.Connection{}
	for _, used := range record.Connections {
		if c, err := s.store.Connection(ctx, principal, used.ID); err == nil {
			known[used.ID] = recording.Connection{Name: c.Name, Type: c.Type, Config: c.Config}
		}
	}
	return known
}
