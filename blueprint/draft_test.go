package blueprint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestFollowingVersion(t *testing.T) {
	for version, want := range map[string]string{"1.0.0": "1.1.0", "2.9.7": "2.10.0", "1": "", "a.b.c": ""} {
		t.Run(version, func(t *testing.T) {
			if got, err := blueprint.FollowingVersion(version); got != want || (err == nil) != (want != "") {
				t.Errorf("got %q and %v, want %q", got, err, want)
			}
		})
	}
}

func TestDraftTags(t *testing.T) {
	for name, d := range map[string]blueprint.Draft{
		"new": {}, "a change": {Of: "id", From: "1.2.0"}, "proposed": {Of: "id", From: "1.2.0", Proposed: true},
	} {
		t.Run(name, func(t *testing.T) {
			tags := d.Tags([]string{"own", blueprint.TagProposed, "draft-of:other"})
			if got, is := blueprint.ParseDraft(tags); !is || got != d {
				t.Errorf("got %+v and %v from %q, want %+v", got, is, tags, d)
			}
			if diff := cmp.Diff([]string{"own"}, blueprint.WithoutDraft(tags)); diff != "" {
				t.Errorf("without those of the draft (-want +got):\n%s", diff)
			}
		})
	}
	if _, is := blueprint.ParseDraft([]string{"draft-of:id", "proposed"}); is {
		t.Errorf("a blueprint without the tag %s is a draft", blueprint.TagDraft)
	}
	if got := blueprint.DraftedTitle(blueprint.DraftTitle("Orders")); got != "Orders" {
		t.Errorf("the title is %q, want Orders", got)
	}
}
