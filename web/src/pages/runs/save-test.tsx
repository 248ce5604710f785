import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconChevronRight, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, type Outputs } from '../../api/client'
import { ErrorNote, showBytes } from '../../parts'
import { download } from '../../parts/download'
import classes from './save-test.module.css'
import { saveTestText } from '../../text/runs'
import { commonText } from '../../text/common'

type File = Outputs['execution']['exportTest']['files'][number]

/** A test made from a run: its files, to view and save. */
export function SaveTest({ id, onClose }: { id: string; onClose: () => void }) {
  const test = useQuery({
    queryKey: ['run', id, 'test'],
    queryFn: () => api.execution.exportTest.query({ executionId: id }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const files = test.data?.files ?? []
  const recorded = files.some(({ name }) => kindOf(name) === 'cassette')
  if (test.error)
    return (
      <ErrorNote error={test.error} title={saveTestText.couldNotCreateTheTest} onRetry={() => void test.refetch()} />
    )
  if (!test.data)
    return (
      <Stack aria-busy="true">
        <Skeleton h={60} />
        <Skeleton h={160} />
      </Stack>
    )
  return (
    <Stack gap="md">
      <Text size="sm">
        {saveTestText.thisTestExpectsTheResultsOf(
          recorded ? saveTestText.itReplaysTheRecordedTrafficAnd : saveTestText.theRunWasNotRecordedSo,
        )}{' '}
        <Code>{saveTestText.blueprintdTestFolder}</Code>.
      </Text>
      <ul className={classes.files}>
        {files.map((file) => (
          <FileItem key={file.name} file={file} />
        ))}
      </ul>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {commonText.close}
        </Button>
        <Button leftSection={<IconDownload size={17} aria-hidden />} onClick={() => saveAll(files)} autoFocus>
          {saveTestText.downloadAll}
        </Button>
      </Group>
    </Stack>
  )
}

const words = {
  blueprint: saveTestText.theBlueprint,
  test: saveTestText.inputAndExpectedResults,
  cassette: saveTestText.theRecordedTraffic,
  other: '',
}
const cutAt = 20_000

function FileItem({ file: { name, content } }: { file: File }) {
  const [open, setOpen] = useState(false)
  const [whole, setWhole] = useState(false)
  const id = useId()
  return (
    <li>
      <div className={classes.head}>
        <button
          type="button"
          className={classes.name}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          <IconChevronRight size={15} aria-hidden className={classes.chevron} />
          <span>
            <b>{name}</b>
            <br />
            <span className={classes.sub}>
              {words[kindOf(name)]}, {showBytes(new Blob([content]).size)}
            </span>
          </span>
        </button>
        <Button
          variant="default"
          size="compact-md"
          leftSection={<IconDownload size={15} aria-hidden />}
          onClick={() => save({ name, content })}
          aria-label={saveTestText.download(name)}
          className={classes.take}
        >
          <span className={classes.word}>{commonText.download}</span>
        </Button>
      </div>
      {open && (
        <div id={id}>
          <pre className={classes.text} tabIndex={0} role="region" aria-label={saveTestText.contentOf(name)}>
            {whole ? content : content.slice(0, cutAt)}
          </pre>
          {!whole && content.length > cutAt && (
            <Button m={8} variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
              {saveTestText.showAll(showBytes(content.length))}
            </Button>
          )}
        </div>
      )}
    </li>
  )
}

function kindOf(name: string): keyof typeof words {
  const kind = /\.(blueprint|test|cassette)\.(ya?ml|json)$/.exec(name)?.[1]
  return (kind as keyof typeof words | undefined) ?? 'other'
}

function save({ name, content }: File): void {
  download(name, content, name.endsWith('.json') ? 'application/json' : 'application/yaml')
}

// Browsers accept several downloads only with a pause between them.
function saveAll(files: File[]): void {
  files.forEach((file, index) => setTimeout(() => save(file), index * 400))
}
