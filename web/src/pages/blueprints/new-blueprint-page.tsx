import { Button, Card, Group, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { IconFileImport, IconSquareRoundedPlus, IconTemplate } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone, PageHeader, useUrlState } from '../../parts'
import classes from './blueprints.module.css'
import { createWithTriggers } from './create'
import { Import } from './import'
import { OrganizationSelect, useFirstOrganization } from './organization-select'
import { randomSecret } from './random-secret'
import { StartCards } from './start-cards'
import { templates, type Template } from './templates'
import { newBlueprintPageText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** /blueprints/new: creates a blueprint from scratch, from a template, or from a file. */
export default function NewBlueprintPage() {
  const [asked, setFrom] = useUrlState('from', 'empty')
  const from = asked === 'file' || templates.some(({ key }) => key === asked) ? asked : 'empty'
  return (
    <>
      <PageHeader
        title={newBlueprintPageText.newBlueprint}
        breadcrumbs={[{ title: commonText.blueprints, href: '/blueprints' }]}
      />
      <Stack gap="lg" maw={880}>
        <StartCards
          value={from}
          onChange={(key) => setFrom(key)}
          choices={[
            {
              key: 'empty',
              title: newBlueprintPageText.empty,
              text: newBlueprintPageText.startWithAnEmptyCanvas,
              icon: <IconSquareRoundedPlus size={20} aria-hidden />,
            },
            ...templates.map(({ key, title, text }) => ({
              key,
              title,
              text,
              icon: <IconTemplate size={20} aria-hidden />,
            })),
            {
              key: 'file',
              title: newBlueprintPageText.fromAFile,
              text: newBlueprintPageText.importOrPasteABlueprintJson,
              icon: <IconFileImport size={20} aria-hidden />,
            },
          ]}
        />
        {from === 'file' ? <Import /> : <CreateForm template={templates.find(({ key }) => key === from)} />}
      </Stack>
    </>
  )
}

function CreateForm({ template }: { template: Template | undefined }) {
  const [, navigate] = useLocation()
  const first = useFirstOrganization()
  // The texts of the template are shown until the user edits them.
  const [{ title = template?.title ?? '', description = template?.text ?? '' }, write] = useState<{
    title?: string
    description?: string
  }>({})
  const [tags, setTags] = useState<string[]>([])
  const [organization, setOrganization] = useState(first)
  const known = useQuery({
    queryKey: ['blueprints', 'tags'],
    queryFn: () => api.blueprint.listTags.query(),
    staleTime: 60_000,
  })
  const create = useMutation({
    mutationFn: () =>
      createWithTriggers(
        {
          title: title.trim(),
          description: description.trim(),
          tags,
          organization_id: organization,
          blueprint_map: template?.map ?? { nodes: [] },
        },
        (template?.triggers ?? []).map((trigger) => ({
          ...trigger,
          ...(trigger.triggerType === 'webhook' ? { secret: randomSecret() } : {}),
        })),
      ),
    onSuccess: ({ id, triggers, left }) => {
      notifyDone(
        [
          triggers > 0
            ? newBlueprintPageText.blueprintCreatedWithTriggers(triggers)
            : newBlueprintPageText.blueprintCreatedAddYourFirst,
          ...left,
        ].join(' '),
      )
      navigate(`/blueprints/${id}/edit`)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const at = (field: string) => (create.error ? issueFor(create.error, field) : undefined)
  return (
    <Card component="form" onSubmit={submit} aria-label={newBlueprintPageText.newBlueprint}>
      <Stack gap="md">
        <TextInput
          label={commonText.title}
          placeholder={newBlueprintPageText.dailyReport}
          required
          data-first
          value={title}
          maxLength={500}
          error={at('title')}
          onChange={(event) => {
            const next = event.currentTarget.value
            write((words) => ({ ...words, title: next }))
          }}
        />
        <Textarea
          label={commonText.description}
          inputWrapperOrder={below}
          description={newBlueprintPageText.whatItDoesAndWhoUses}
          value={description}
          maxLength={10_000}
          autosize
          minRows={2}
          maxRows={8}
          error={at('description')}
          onChange={(event) => {
            const next = event.currentTarget.value
            write((words) => ({ ...words, description: next }))
          }}
        />
        <div className={classes.beside}>
          <OrganizationSelect value={organization} onChange={setOrganization} />
          <TagsInput
            label={newBlueprintPageText.tags}
            inputWrapperOrder={below}
            description={newBlueprintPageText.usedToFindBlueprintsPressEnter}
            value={tags}
            onChange={setTags}
            data={known.data?.map(({ tag }) => tag) ?? []}
            maxTags={100}
            error={at('tags')}
            clearable
            limit={20}
          />
        </div>
        {template && template.triggers.length > 0 && (
          <Text size="sm" c="dimmed">
            {newBlueprintPageText.includesAPausedUntilYou(
              template.triggers[0]!.triggerType === 'webhook'
                ? newBlueprintPageText.webhookTriggerWithANewSecret
                : newBlueprintPageText.schedule,
            )}
          </Text>
        )}
        <ErrorNote error={create.error} title={newBlueprintPageText.couldNotCreateTheBlueprint} />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            {newBlueprintPageText.createAndOpenEditor}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

// The labels of fields beside each other are at one height.
const below: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']
