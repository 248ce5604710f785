import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from 'react'
import { giveBack, openerOf } from './opener'
import { confirmText } from '../text/parts'
import { commonText } from '../text/common'

/** A question with two answers. */
export type Question = {
  /** The question itself: `Delete "Hello"?` */
  title: string
  /** What will happen, and what cannot be undone. */
  text?: ReactNode
  /** The label of the confirming button: `Delete`. */
  action: string
  /** Makes that button red. */
  danger?: boolean
  /** For dangerous actions: a name that the user must type first. */
  typed?: string
}

type Asked = Question & { answer: (yes: boolean) => void }

let asked: Asked | undefined
const listeners = new Set<() => void>()

/**
 * Asks in a dialog; the promise resolves to whether the user confirmed. One question at a time: a second one cancels
 * the first.
 */
export function confirm(question: Question): Promise<boolean> {
  asked?.answer(false)
  const opener = openerOf(document.activeElement)
  return new Promise<boolean>((resolve) => {
    asked = { ...question, answer: resolve }
    notify()
  }).finally(() => giveBack(opener))
}

/** The dialog of {@link confirm}; rendered once, in main.tsx. */
export function ConfirmHost() {
  const question = useSyncExternalStore(listen, () => asked)
  const [last, setLast] = useState(question) // shown while the dialog fades out
  if (question && question !== last) setLast(question)
  const answer = (yes: boolean) => {
    question?.answer(yes)
    asked = undefined
    notify()
  }
  return (
    <Modal
      zIndex={350}
      opened={question !== undefined}
      onClose={() => answer(false)}
      title={last?.title}
      size="md"
      returnFocus
    >
      {last && <Confirm key={last.title} question={last} onAnswer={answer} />}
    </Modal>
  )
}

/** The content of such a dialog, for other dialogs. */
export function Confirm({ question, onAnswer }: { question: Question; onAnswer: (yes: boolean) => void }) {
  const [typed, setTyped] = useState('')
  const allowed = question.typed === undefined || typed.trim() === question.typed.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (allowed) onAnswer(true)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {question.text && (
          <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
            {question.text}
          </Text>
        )}
        {question.typed !== undefined && (
          <TextInput
            label={
              <>
                {commonText.type} <b>{question.typed}</b> {confirmText.toConfirm}
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            onClick={() => onAnswer(false)}
            data-autofocus={question.danger && question.typed === undefined ? true : undefined}
          >
            {commonText.cancel}
          </Button>
          <Button
            type="submit"
            color={question.danger ? 'red' : undefined}
            disabled={!allowed}
            data-autofocus={question.danger ? undefined : true}
          >
            {question.action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}
