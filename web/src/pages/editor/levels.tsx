import { Anchor } from '@mantine/core'
import classes from './editor.module.css'
import { mapAt } from './nested'
import type { Editor } from './use-editor'
import { levelsText } from '../../text/editor'

/** The for-each whose body the canvas shows, with links to the levels above. */
export function Levels({ title, editor }: { title: string; editor: Editor }) {
  const { level } = editor.state
  const nameOf = (index: number) =>
    mapAt(editor.doc.map, level.slice(0, index))?.nodes.find((node) => node.id === level[index])?.title || level[index]
  return (
    <nav className={classes.crumbs} aria-label={levelsText.loopLevels}>
      <ol>
        <li>
          <Anchor component="button" type="button" size="sm" onClick={() => editor.enter([], [level[0]!])}>
            {title}
          </Anchor>
        </li>
        {level.map((_id, index) => (
          <li key={index}>
            {index === level.length - 1 ? (
              <span aria-current="location">{nameOf(index)}</span>
            ) : (
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => editor.enter(level.slice(0, index + 1), [level[index + 1]!])}
              >
                {nameOf(index)}
              </Anchor>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
