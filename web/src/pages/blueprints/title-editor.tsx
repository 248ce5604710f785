import { Button, Group, TextInput } from '@mantine/core'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { describeError, issueFor } from '../../api/errors'
import classes from './blueprint-layout.module.css'
import { type Blueprint, useUpdate } from '../../api/use-blueprint'
import { titleEditorText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The title of a blueprint as a field: Enter saves it, Escape cancels. */
export function TitleEditor({ blueprint, onDone }: { blueprint: Blueprint; onDone: () => void }) {
  const [title, setTitle] = useState(blueprint.title)
  const update = useUpdate(blueprint.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const next = title.trim()
    if (next === blueprint.title) onDone()
    else if (next) update.mutate({ title: next }, { onSuccess: onDone })
  }
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onDone()
  }
  const fault =
    title.trim() === ''
      ? titleEditorText.enterATitle
      : update.error
        ? (issueFor(update.error, 'title') ?? describeError(update.error).message)
        : undefined
  return (
    <form onSubmit={submit} onKeyDown={key} className={classes.editor}>
      <Group gap="xs" align="flex-start" className={classes.editorRow}>
        <TextInput
          aria-label={commonText.title}
          value={title}
          maxLength={500}
          error={fault}
          autoFocus
          onFocus={(event) => event.currentTarget.select()}
          onChange={(event) => setTitle(event.currentTarget.value)}
          style={{ flex: '1 1 160px' }}
        />
        <Button type="submit" loading={update.isPending} disabled={title.trim() === ''}>
          {commonText.rename}
        </Button>
        <Button variant="default" onClick={onDone}>
          {commonText.cancel}
        </Button>
      </Group>
    </form>
  )
}
