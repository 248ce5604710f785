import { useMemo } from 'react'
import { parseJson } from '../../api/json'
import { JsonView } from '../../parts'
import { CodeBlock } from './code-block'
import { bodyText } from '../../text/triggers'

/** The body of a delivery: a tree if it is JSON, else plain text. */
export function Body({ text }: { text: string }) {
  const parsed = useMemo(() => {
    try {
      return { value: parseJson(text) }
    } catch {
      return null
    }
  }, [text])
  if (text === '') return <CodeBlock text={bodyText.empty} label={bodyText.body} />
  return parsed ? (
    <JsonView value={parsed.value} label={bodyText.deliveryBody} maxHeight="360px" />
  ) : (
    <CodeBlock text={text} label={bodyText.body} />
  )
}
