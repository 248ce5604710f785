import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconChevronRight, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, type Outputs } from '../../api/client'
import { ErrorNote, showBytes } from '../../parts'
import { download } from '../../parts/download'
import classes from './save-test.module.css'

type File = Outputs['execution']['exportTest']['files'][number]

/** A test of a run: its files, to look at and to save. */
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
    return <ErrorNote error={test.error} title="No test could be made" onRetry={() => void test.refetch()} />
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
        A test that expects what this run did.{' '}
        {recorded
          ? 'It is played from the recorded traffic, so nothing is sent.'
          : 'The run was not recorded, so steps that reach other services are replaced by what they gave.'}{' '}
        Put the files into one folder; <Code>blueprintd test FOLDER</Code> runs them.
      </Text>
      <ul className={classes.files}>
        {files.map((file) => (
          <FileItem key={file.name} file={file} />
        ))}
      </ul>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button leftSection={<IconDownload size={17} aria-hidden />} onClick={() => saveAll(files)} autoFocus>
          Download all
        </Button>
      </Group>
    </Stack>
  )
}

const words = {
  blueprint: 'The blueprint',
  test: 'What goes in, and what is expected',
  cassette: 'The recorded traffic',
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
          aria-label={`Download ${name}`}
          className={classes.take}
        >
          <span className={classes.word}>Download</span>
        </Button>
      </div>
      {open && (
        <div id={id}>
          <pre className={classes.text} tabIndex={0} role="region" aria-label={`Content of ${name}`}>
            {whole ? content : content.slice(0, cutAt)}
          </pre>
          {!whole && content.length > cutAt && (
            <Button m={8} variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
              Show all {showBytes(content.length)}
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

// Browsers take several files only with a pause between them.
function saveAll(files: File[]): void {
  files.forEach((file, index) => setTimeout(() => save(file), index * 400))
}
