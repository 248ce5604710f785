import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { AnswerProps } from './answer-props'

/** More tokens or calls for the language models of a run. */
export function BudgetForm({ answering }: AnswerProps) {
  const [tokens, setTokens] = useState('')
  const [calls, setCalls] = useState('')
  const [tried, setTried] = useState(false)
  const fault = (text: string) =>
    text.trim() === '' || /^[1-9]\d{0,14}$/.test(text.trim()) ? undefined : 'Must be a whole number above 0.'
  const none = tokens.trim() === '' && calls.trim() === ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (none || fault(tokens) || fault(calls)) return
    answering.mutate({
      ...(tokens.trim() ? { tokens: Number(tokens) } : {}),
      ...(calls.trim() ? { calls: Number(calls) } : {}),
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          What you add holds for this run alone. The budget of the blueprint stays as it is.
        </Text>
        <Group grow align="flex-start">
          <TextInput
            label="Tokens to add"
            inputMode="numeric"
            value={tokens}
            error={tried ? (fault(tokens) ?? (none ? 'Give tokens, calls or both.' : undefined)) : undefined}
            onChange={(event) => setTokens(event.currentTarget.value)}
          />
          <TextInput
            label="Calls to add"
            inputMode="numeric"
            value={calls}
            error={tried ? fault(calls) : undefined}
            onChange={(event) => setCalls(event.currentTarget.value)}
          />
        </Group>
        <Group>
          <Button type="submit" loading={answering.isPending}>
            Add and go on
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
