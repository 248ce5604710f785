package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/docs"
)

func commandDocs() *cli.Command {
	const listHint = "run blueprintd docs to list the topics"
	return &cli.Command{
		Name: "docs", Usage: "print a page of the documentation", ArgsUsage: "[TOPIC]",
		Description: "Lists the topics by default. A server shows the same pages at /docs.",
		UsageText:   "blueprintd docs\nblueprintd docs triggers",
		BashComplete: func(c *cli.Context) {
			if c.NArg() == 0 {
				fmt.Fprintln(c.App.Writer, strings.Join(docs.Topics(), "\n"))
			}
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage(listHint, "docs takes one topic")
			}
			topic := strings.TrimSuffix(c.Args().First(), ".md")
			if topic == "" {
				return listTopics(c)
			}
			page := docs.Find(topic)
			if page == nil {
				return usage(listHint, "no page about %q%s", topic, blueprint.DidYouMean(topic, docs.Topics()))
			}
			_, err := c.App.Writer.Write(page.Markdown)
			return err
		},
	}
}

func listTopics(c *cli.Context) error {
	for _, chapter := range docs.Contents() {
		if _, err := fmt.Fprintln(c.App.Writer, chapter.Title); err != nil {
			return err
		}
		for _, page := range chapter.Pages {
			if _, err := fmt.Fprintf(c.App.Writer, "  %-24s %s\n", page.Topic, page.Title); err != nil {
				return err
			}
		}
	}
	return nil
}
