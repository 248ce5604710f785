import { Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core'
import { IconFileImport, IconUpload } from '@tabler/icons-react'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { JsonInput, notifyDone } from '../../parts'
import { createWithTriggers } from './create'
import { lacksSecret, readFile } from './file'
import classes from './import.module.css'
import { ImportCard, type Entry } from './import-card'
import { OrganizationSelect, useFirstOrganization } from './organization-select'
import { importText } from '../../text/blueprints'

const mostFiles = 100
let count = 0

/** Reads blueprint files that are dropped, chosen or pasted, shows their content, and creates the blueprints. */
export function Import() {
  const [, navigate] = useLocation()
  const [entries, setEntries] = useState<Entry[]>([])
  const [text, setText] = useState('')
  const [over, setOver] = useState(false)
  const [withTriggers, setWithTriggers] = useState(true)
  const [busy, setBusy] = useState(false)
  const first = useFirstOrganization()
  const [organization, setOrganization] = useState(first)
  const picker = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)

  const change = (key: number, next: Partial<Entry>) =>
    setEntries((list) => list.map((entry) => (entry.key === key ? { ...entry, ...next } : entry)))
  const add = async (name: string, content: Promise<string> | string) => {
    const read = readFile(await content, name)
    const key = ++count
    setEntries((list) => [...list, { key, name, read, issues: [], secrets: {} }])
    if (!read.file) return
    const { blueprint_map, environment_variables } = read.file
    // Only for information: the server imports blueprints that cannot run yet.
    api.blueprint.validate.mutate({ blueprint_map, ...(environment_variables ? { environment_variables } : {}) }).then(
      ({ issues }) => change(key, { issues }),
      () => undefined,
    )
  }
  const take = (files: FileList | null) => {
    for (const file of [...(files ?? [])].slice(0, mostFiles)) void add(file.name, file.text())
    if (picker.current) picker.current.value = ''
  }
  useWholePage(setOver, take)

  const ready = entries.filter(({ read, done }) => read.file && !done)
  const run = async () => {
    setBusy(true)
    const made = []
    for (const { key, read, secrets } of ready) {
      const { triggers = [], ...file } = read.file!
      change(key, { error: undefined })
      try {
        const done = await createWithTriggers(
          { ...file, organization_id: organization },
          withTriggers ? triggers.map((trigger, index) => ({ ...trigger, secret: secrets[index] })) : [],
        )
        change(key, { done })
        made.push(done)
      } catch (error) {
        change(key, { error })
      }
    }
    setBusy(false)
    list.current?.focus() // the pressed button disappears
    if (made.length > 0) notifyDone(importText.blueprintsImported(made.length))
    if (entries.length === 1 && made[0] && made[0].left.length === 0) navigate(`/blueprints/${made[0].id}/edit`)
  }
  return (
    <Stack gap="md">
      <div className={classes.drop} data-over={over || undefined}>
        <IconUpload size={26} aria-hidden />
        <Text size="sm" ta="center">
          {importText.dropBlueprintFilesOnThisPage}
        </Text>
        <Button
          variant="default"
          leftSection={<IconFileImport size={17} aria-hidden />}
          onClick={() => picker.current?.click()}
        >
          {importText.chooseFiles}
        </Button>
        <input
          ref={picker}
          type="file"
          multiple
          accept=".json,application/json"
          hidden
          onChange={(event) => take(event.currentTarget.files)}
          aria-label={importText.blueprintFiles}
        />
        <Text size="xs" c="dimmed" ta="center">
          {importText.jsonFromExportToFileFor}
        </Text>
      </div>
      <div>
        <JsonInput
          label={importText.pasteJson}
          placeholder={importText.example}
          optional
          value={text}
          onChange={setText}
          minRows={3}
          maxRows={12}
        />
        <Button
          mt={8}
          variant="default"
          disabled={text.trim() === ''}
          onClick={() => {
            void add(importText.pastedText, text)
            setText('')
          }}
        >
          {importText.read}
        </Button>
      </div>
      <div
        ref={list}
        tabIndex={-1}
        role="group"
        aria-label={importText.filesToImport}
        aria-live="polite"
        style={{ outline: 'none' }}
      >
        <Stack gap="sm">
          {entries.map((entry) => (
            <ImportCard
              key={entry.key}
              entry={entry}
              withTriggers={withTriggers}
              onRemove={() => setEntries((list) => list.filter(({ key }) => key !== entry.key))}
              onSecret={(index, secret) => change(entry.key, { secrets: { ...entry.secrets, [index]: secret } })}
            />
          ))}
        </Stack>
      </div>
      {(ready.length > 0 || busy) && (
        <Card>
          <Stack gap="md">
            <OrganizationSelect value={organization} onChange={setOrganization} />
            <Checkbox
              label={importText.createTriggers}
              checked={withTriggers}
              onChange={(event) => setWithTriggers(event.currentTarget.checked)}
              description={importText.newTriggersArePausedUntilYou(
                entries.some(({ read }) => read.file?.triggers?.some(lacksSecret))
                  ? importText.filesContainNoSecretsEnterThem
                  : '',
              )}
            />
            <Group justify="flex-end">
              <Button loading={busy} disabled={ready.length === 0} onClick={() => void run()}>
                {entries.length > 1 ? importText.importBlueprints(ready.length) : importText.import}
              </Button>
            </Group>
          </Stack>
        </Card>
      )}
    </Stack>
  )
}

// Files can be dropped anywhere: outside of a drop zone the browser would leave the page to show them.
function useWholePage(setOver: (over: boolean) => void, take: (files: FileList | null) => void): void {
  const latest = useRef(take)
  useEffect(() => {
    latest.current = take
  })
  useEffect(() => {
    const drag = (event: Event) => {
      const { dataTransfer } = event as unknown as DragEvent
      if (!dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(event.type === 'dragover')
      if (event.type === 'drop') latest.current(dataTransfer.files)
    }
    const leave = (event: globalThis.DragEvent) => {
      if (!event.relatedTarget) setOver(false)
    }
    addEventListener('dragover', drag)
    addEventListener('drop', drag)
    addEventListener('dragleave', leave)
    return () => {
      removeEventListener('dragover', drag)
      removeEventListener('drop', drag)
      removeEventListener('dragleave', leave)
    }
  }, [setOver])
}
