import { Button, Group, Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { describeError } from '../../api/errors'
import { parseJson } from '../../api/json'
import { SchemaForm } from '../../forms'
import type { Schema } from '../../forms/types'
import { startOf } from '../../forms/start'
import { JsonInput } from '../../parts'
import { checkJson } from '../../parts/json-check'
import type { AnswerProps } from './answer-props'
import { answerHumanText } from '../../text/runs'

/** The answer to a question: a form generated from its schema, or text or JSON without one. */
export default function HumanForm(props: AnswerProps) {
  const { schema } = props.asked
  const hasSchema = typeof schema === 'object' && schema !== null && Object.keys(schema).length > 0
  return hasSchema ? <SchemaAnswer {...props} schema={schema as Schema} /> : <FreeAnswer {...props} />
}

function SchemaAnswer({ answering, schema }: AnswerProps & { schema: Schema }) {
  const [value, setValue] = useState<unknown>(() => startOf(schema))
  const issues = answering.error ? issuesOf(answering.error) : []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    answering.mutate(value === undefined ? null : value)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <SchemaForm schema={schema} value={value} onChange={setValue} issues={issues} />
        <Group>
          <Button type="submit" loading={answering.isPending}>
            {answerHumanText.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

// Paths of the server start at the input of resume; those of the form at the answer.
function issuesOf(error: unknown): { path: (string | number)[]; message: string }[] {
  return describeError(error).issues.map(({ path, message }) => ({
    path: path[0] === 'input' ? path.slice(1) : path,
    message,
  }))
}

function FreeAnswer({ answering }: AnswerProps) {
  const [text, setText] = useState('')
  const [json, setJson] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (json && checkJson(text)) return
    answering.mutate(json ? parseJson(text) : text)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {json ? (
          <JsonInput label={answerHumanText.answerAsJson} value={text} onChange={setText} minRows={4} />
        ) : (
          <Textarea
            label={answerHumanText.answer}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autosize
            minRows={2}
            maxRows={16}
          />
        )}
        <Group gap="xs">
          <Button type="submit" loading={answering.isPending}>
            {answerHumanText.submit}
          </Button>
          <Button variant="subtle" color="gray" onClick={() => setJson(!json)}>
            {json ? answerHumanText.enterText : answerHumanText.enterJson}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
