package nodes

import (
	"context"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// partFile is what a part of a body sends of a stored file.
type partFile struct {
	name, kind string
	content    []byte
}

// openFiles gives the files of those parts that name one. They are only those
// that came with what started the run itself, so that an id from elsewhere is
// worth nothing.
func openFiles(ctx context.Context, d Dependencies, task *blueprint.Task, parts []httpPart) ([]partFile, error) {
	files := make([]partFile, len(parts))
	var missing *blueprint.MissingGrant
	for i, part := range parts {
		if part.FileID == "" {
			continue
		}
		place := fmt.Sprintf("multipart[%d].fileId", i)
		if d.Files == nil {
			return nil, badConfigf(place, "names no file: none can come with what started the run")
		}
		file, content, err := d.Files(ctx, task.Authority, task.ExecutionID, part.FileID)
		switch {
		case blueprint.CodeOf(err) == blueprint.CodeNotFound:
			return nil, badConfigf(place, "names no file that came with what started this run")
		case errors.As(err, &missing):
			return nil, missing
		case err != nil:
			return nil, &blueprint.Failure{Code: codeFile, Message: place + ": the file cannot be read now", NotSent: true}
		}
		files[i] = partFile{file.Name, file.ContentType, content}
	}
	return files, nil
}
