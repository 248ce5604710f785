import { Button, Group, Radio, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { parseJson } from '../../api/json'
import { JsonInput } from '../../parts'
import { checkJson } from '../../parts/json-check'
import type { AnswerProps } from './answer-props'
import { answerOutcomeText } from '../../text/runs'

type Action = 'retry' | 'mark-done' | 'abort'

const choices: { value: Action; label: string; description: string }[] = [
  {
    value: 'retry',
    label: answerOutcomeText.repeatTheStep,
    description: answerOutcomeText.ifItDidNotHappenOtherwise,
  },
  {
    value: 'mark-done',
    label: answerOutcomeText.markAsDone,
    description: answerOutcomeText.ifItHappenedTheRunContinues,
  },
  { value: 'abort', label: answerOutcomeText.endTheRun, description: answerOutcomeText.theRunFailsYouCanRetry },
]

/** Asks how to continue after an interrupted step whose outcome is unknown. */
export function OutcomeForm({ asked, answering }: AnswerProps) {
  const [action, setAction] = useState<Action | ''>('')
  const [output, setOutput] = useState('')
  const offered = choices.filter(({ value }) => !asked.options?.length || asked.options.includes(value))
  const bad = output.trim() !== '' && checkJson(output) !== undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!action || (action === 'mark-done' && bad)) return
    answering.mutate({ action, ...(action === 'mark-done' && output.trim() ? { output: parseJson(output) } : {}) })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Radio.Group
          label={answerOutcomeText.thisStepMustNotHappenTwice}
          value={action}
          onChange={(value) => setAction(value as Action)}
        >
          <Stack gap="xs" mt="xs">
            {offered.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        {action === 'mark-done' && (
          <JsonInput
            label={answerOutcomeText.stepOutput}
            description={answerOutcomeText.availableToLaterStepsAsJson}
            optional
            value={output}
            onChange={setOutput}
            minRows={3}
          />
        )}
        <Group>
          <Button
            type="submit"
            color={action === 'abort' ? 'red' : undefined}
            disabled={!action}
            loading={answering.isPending}
          >
            {action === 'abort' ? answerOutcomeText.endTheRun : answerOutcomeText.continue}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
