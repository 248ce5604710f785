import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { AnswerProps } from './answer-props'
import { answerBudgetText } from '../../text/runs'

/** More tokens or calls for the language models of a run. */
export function BudgetForm({ answering }: AnswerProps) {
  const [tokens, setTokens] = useState('')
  const [calls, setCalls] = useState('')
  const [tried, setTried] = useState(false)
  const fault = (text: string) =>
    text.trim() === '' || /^[1-9]\d{0,14}$/.test(text.trim()) ? undefined : answerBudgetText.mustBeAWholeNumberGreater
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
          {answerBudgetText.appliesToThisRunOnlyThe}
        </Text>
        <Group grow align="flex-start">
          <TextInput
            label={answerBudgetText.tokensToAdd}
            inputMode="numeric"
            value={tokens}
            error={tried ? (fault(tokens) ?? (none ? answerBudgetText.enterTokensCallsOrBoth : undefined)) : undefined}
            onChange={(event) => setTokens(event.currentTarget.value)}
          />
          <TextInput
            label={answerBudgetText.callsToAdd}
            inputMode="numeric"
            value={calls}
            error={tried ? fault(calls) : undefined}
            onChange={(event) => setCalls(event.currentTarget.value)}
          />
        </Group>
        <Group>
          <Button type="submit" loading={answering.isPending}>
            {answerBudgetText.addAndContinue}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
