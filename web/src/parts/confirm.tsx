import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from 'react'
import { giveBack, openerOf } from './opener'
import { confirmText } from '../text/parts'
import { commonText } from '../text/common'

/** The answer to a question: its action, the other way to go on, or neither. */
export type Answer = 'action' | 'other' | undefined

/** A question with two answers, or three. */
export type Question = {
  /** The question itself: `Delete "Hello"?` */
  title: string
  /** What will happen, and what cannot be undone. */
  text?: ReactNode
  /** The label of the confirming button: `Delete`. */
  action: string
  /** Makes that button red. */
  danger?: boolean
  /** The label of a second way to go on, left of the confirming button. */
  other?: string
  /** For dangerous actions: a name that the user must type first. */
  typed?: string
}

type Asked = Question & { answer: (answer: Answer) => void }

let asked: Asked | undefined
const listeners = new Set<() => void>()

/**
 * Asks in a dialog; the promise resolves to whether the user confirmed. One question at a time: a second one cancels
 * the first.
 */
export async function confirm(question: Omit<Question, 'other'>): Promise<boolean> {
  return (await choose(question)) === 'action'
}

/** As {@link confirm}; resolves to the answer. */
export function choose(question: Question): Promise<Answer> {
  asked?.answer(undefined)
  const opener = openerOf(document.activeElement)
  return new Promise<Answer>((resolve) => {
    asked = { ...question, answer: resolve }
    notify()
  }).finally(() => giveBack(opener))
}

/** The dialog of {@link confirm}; rendered once, in main.tsx. */
export function ConfirmHost() {
  const question = useSyncExternalStore(listen, () => asked)
  const [last, setLast] = useState(question) // shown while the dialog fades out
  if (question && question !== last) setLast(question)
  const answer = (given: Answer) => {
    question?.answer(given)
    asked = undefined
    notify()
  }
  return (
    <Modal
      zIndex={350}
      opened={question !== undefined}
      onClose={() => answer(undefined)}
      title={last?.title}
      size="md"
      returnFocus
    >
      {last && (
        <Confirm
          key={last.title}
          question={last}
          onAnswer={(yes) => answer(yes ? 'action' : undefined)}
          onOther={() => answer('other')}
        />
      )}
    </Modal>
  )
}

/** The content of such a dialog, for other dialogs. */
export function Confirm({
  question,
  onAnswer,
  onOther,
}: {
  question: Question
  onAnswer: (yes: boolean) => void
  onOther?: () => void
}) {
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
          {question.other !== undefined && (
            <Button variant="default" onClick={onOther}>
              {question.other}
            </Button>
          )}
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
