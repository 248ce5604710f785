package server

import (
	"context"
	"errors"
	"testing"

	"blueprintd/blueprint"
)

// TestMailFileDecodingIsLimited checks that a file waits for earlier ones, until its client
// disconnects.
func TestMailFileDecodingIsLimited(t *testing.T) {
	t.Parallel()
	s := &Server{decoding: make(chan struct{}, 1)}
	read := func(context.Context) (blueprint.File, []byte, error) {
		return blueprint.File{Size: 99}, []byte("\r\nhello"), nil
	}
	if file, content, err := s.open(t.Context(), true, read); err != nil || string(content) != "hello" || file.Size != 5 {
		t.Errorf("%+v %q %v, want hello and Size 5", file, content, err)
	}
	if file, content, err := s.open(t.Context(), false, read); err != nil || content != nil || file.Size != 99 {
		t.Errorf("%+v %q %v, want nil and Size 99", file, content, err)
	}
	s.decoding <- struct{}{}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := s.open(left, true, read); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
