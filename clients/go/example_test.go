package blueprintd_test

import (
	"context"
	"errors"
	"fmt"

	blueprintd "blueprintd/clients/go"
)

// A program stores a blueprint, runs it, and reads what became of the run.
func Example() {
	ctx := context.Background()
	client := &blueprintd.Client{Address: address, Key: key}
	var made struct{ ID string }
	err := client.Mutate(ctx, "blueprint.create", map[string]any{
		"title": "Greeting",
		"blueprint_map": map[string]any{"nodes": []any{
			map[string]any{"id": "greet", "type": "template", "title": "Greet", "config": map[string]any{"text": "Hello, {{name}}!"}},
		}},
	}, &made)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := client.Execute(ctx, made.ID, map[string]any{"name": "Ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Status, string(run.Output))
	// Output: completed {"text":"Hello, Ada!"}
}

// A refusal says what is wrong with each field of the input.
func ExampleError() {
	client := &blueprintd.Client{Address: address, Key: key}
	err := client.Mutate(context.Background(), "blueprint.create", map[string]any{"title": 1}, nil)
	var refused *blueprintd.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.HTTPStatus)
		for _, issue := range refused.Issues {
			fmt.Println(issue.Path, issue.Message)
		}
	}
	// Output:
	// BAD_REQUEST 400
	// [title] must be a string
}
