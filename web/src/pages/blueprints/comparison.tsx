import { Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { changeWords } from '../../diff/change-words'
import { type Content, diffVersions } from '../../diff/diff'
import { VersionDiffView } from '../../diff/version-diff'
import changes from '../../diff/diff.module.css'

type Named = Content & { /** The name of the content: its version. */ name: string }

/** Two contents compared: the changes in words, on the graph and field by field. */
export function Comparison({ from, to, title }: { from: Named; to: Named; title: string }) {
  const diff = useMemo(() => diffVersions(from, to), [from, to])
  const words = changeWords(diff)
  return (
    <>
      <Title order={2} size="h3" mt="md">
        {title}
      </Title>
      <Text size="sm" c="dimmed" component="ul" className={changes.words}>
        {words.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </Text>
      <VersionDiffView before={from} after={to} diff={diff} names={[from.name, to.name]} />
    </>
  )
}
