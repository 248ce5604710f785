import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { type FormEvent, useId, useState } from 'react'
import { Issues } from '../forms/frame'
import type { FormIssue } from '../forms/types'
import { useNotApplied } from '../forms/unapplied'
import classes from './inspector.module.css'
import { nodeIdRowText } from '../text/inspector'
import { commonText } from '../text/common'

const idPath = ['id']

type Props = { id: string; taken: readonly string[]; issues: readonly FormIssue[]; onRename?: (id: string) => void }

/** The id of a node, used by edges and templates, and a button to change it. */
export function NodeIdRow({ id, taken, issues, onRename }: Props) {
  const [draft, setDraft] = useState<string>()
  const field = useId()
  const fault =
    draft === undefined || draft === id
      ? undefined
      : draft === ''
        ? nodeIdRowText.enterAnId
        : taken.includes(draft)
          ? nodeIdRowText.anotherNodeHasThisId
          : draft.includes(']/')
            ? nodeIdRowText.theIdMustNotContain
            : undefined
  useNotApplied(
    idPath,
    draft ?? id,
    draft !== undefined && draft !== id
      ? nodeIdRowText.notApplied(fault ?? nodeIdRowText.chooseRenameOrCancel)
      : undefined,
  )
  const apply = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    if (fault || draft === undefined) return
    if (draft !== id) onRename?.(draft)
    setDraft(undefined)
  }
  if (draft === undefined) {
    return (
      <div className={issues.length === 0 ? classes.idAside : undefined}>
        <div className={classes.idRow}>
          <span className={classes.idLabel}>{nodeIdRowText.id}</span>
          <code className={classes.id} title={id}>
            {id}
          </code>
          {onRename && (
            <Tooltip label={commonText.rename}>
              <ActionIcon size={26} aria-label={nodeIdRowText.renameTheId(id)} onClick={() => setDraft(id)}>
                <IconPencil size={15} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </div>
        <Issues issues={issues} />
      </div>
    )
  }
  return (
    <form
      onSubmit={apply}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          event.stopPropagation()
          setDraft(undefined)
        }
      }}
    >
      <TextInput
        id={field}
        label={nodeIdRowText.id}
        description={nodeIdRowText.lettersDigitsAndWorkBestIn}
        value={draft}
        error={fault}
        data-autofocus
        autoFocus
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: classes.id }}
        onChange={(event) => setDraft(event.currentTarget.value)}
      />
      <div className={classes.idButtons}>
        <Button size="xs" variant="default" onClick={() => setDraft(undefined)}>
          {commonText.cancel}
        </Button>
        <Button size="xs" type="submit" disabled={fault !== undefined}>
          {commonText.rename}
        </Button>
      </div>
    </form>
  )
}
