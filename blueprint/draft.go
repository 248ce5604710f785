package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The tags of a draft that an agent makes. A draft is a blueprint of its own that nothing
// starts, until a person applies it.
const (
	TagDraft     = "agent-draft"
	TagProposed  = "proposed"    // it is proposed for publishing
	tagDraftOf   = "draft-of:"   // followed by the id of the blueprint that it changes
	tagDraftFrom = "draft-from:" // followed by the version of that blueprint
)

// Draft is what the tags of a draft say.
type Draft struct {
	Of       string // the id of the blueprint that it changes; "" = it is a new one
	From     string // the version of that blueprint that it was made from
	Proposed bool
}

// ParseDraft reads the tags of a blueprint. It returns false if it is not a draft.
func ParseDraft(tags []string) (d Draft, ok bool) {
	for _, tag := range tags {
		if of, is := strings.CutPrefix(tag, tagDraftOf); is {
			d.Of = of
		}
		if from, is := strings.CutPrefix(tag, tagDraftFrom); is {
			d.From = from
		}
	}
	d.Proposed = slices.Contains(tags, TagProposed)
	return d, slices.Contains(tags, TagDraft)
}

// Tags returns tags without those of a draft, followed by those of d.
func (d Draft) Tags(tags []string) []string {
	tags = append(WithoutDraft(tags), TagDraft)
	if d.Of != "" {
		tags = append(tags, tagDraftOf+d.Of, tagDraftFrom+d.From)
	}
	if d.Proposed {
		tags = append(tags, TagProposed)
	}
	return tags
}

// WithoutDraft returns tags without those of a draft.
func WithoutDraft(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool {
		return tag == TagDraft || tag == TagProposed || strings.HasPrefix(tag, tagDraftOf) || strings.HasPrefix(tag, tagDraftFrom)
	})
}

// DraftTitle returns the title of a draft of a blueprint.
func DraftTitle(title string) string { return title + draftSuffix }

// DraftedTitle returns the title that a blueprint has once a draft of this title is applied.
func DraftedTitle(title string) string { return strings.TrimSuffix(title, draftSuffix) }

const draftSuffix = " (draft)"

// FollowingVersion returns the version that comes after a change of the content, unless
// another one is asked for.
func FollowingVersion(version string) (string, error) {
	parts := strings.Split(version, ".")
	if len(parts) == 3 {
		if minor, err := strconv.Atoi(parts[1]); err == nil {
			return fmt.Sprintf("%s.%d.0", parts[0], minor+1), nil
		}
	}
	return "", fmt.Errorf("the version %q is malformed", version)
}
