import { ActionIcon, Badge, Button, Checkbox, Group, Text, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client'
import { describeError, issueFor } from '../../api/errors'
import { queryClient } from '../../api/query-client'
import { useSignedIn } from '../../api/session'
import { confirm, ErrorNote, notifyError } from '../../parts'
import { Section } from './section'
import classes from './section.module.css'
import { noteChange, type Blueprint } from '../../api/use-blueprint'
import { categoriesSectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The categories of a blueprint; members of its organization can create and delete categories here. */
export function CategoriesSection({ blueprint }: { blueprint: Blueprint }) {
  const { organizations } = useSignedIn()
  const owner = organizations.find(({ id }) => id === blueprint.organization_id)
  if (!owner || !blueprint.can_manage) {
    if (blueprint.categories.length === 0) return null
    return (
      <Section title={commonText.categories}>
        <Group gap={6}>
          {blueprint.categories.map(({ id, name }) => (
            <Badge key={id}>{name}</Badge>
          ))}
        </Group>
      </Section>
    )
  }
  return <Editor blueprint={blueprint} organizationId={owner.id} organization={owner.name} />
}

function Editor({
  blueprint,
  organizationId,
  organization,
}: {
  blueprint: Blueprint
  organizationId: string
  organization: string
}) {
  const [name, setName] = useState('')
  const key = ['categories', organizationId]
  const list = useQuery({ queryKey: key, queryFn: () => api.category.list.query({ organizationId }) })
  const chosen = blueprint.categories.map(({ id }) => id)
  const set = useMutation({
    mutationFn: (categoryIds: string[]) => api.blueprint.setCategories.mutate({ id: blueprint.id, categoryIds }),
    onSuccess: (categories) => noteChange(blueprint.id, { categories }),
    onError: notifyError,
  })
  const create = useMutation({
    mutationFn: (given: string) => api.category.create.mutate({ organizationId, name: given }),
    onSuccess: async ({ id }) => {
      setName('')
      await queryClient.invalidateQueries({ queryKey: key })
      set.mutate([...chosen, id])
    },
  })
  const remove = useMutation({
    mutationFn: (id: string) => api.category.delete.mutate({ id }),
    onSuccess: async (_answer, id) => {
      noteChange(blueprint.id, { categories: blueprint.categories.filter((one) => one.id !== id) })
      await queryClient.invalidateQueries({ queryKey: key })
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) create.mutate(name.trim())
  }
  const askRemove = async (id: string, title: string) => {
    const agreed = await confirm({
      title: categoriesSectionText.deleteTheCategory(title),
      text: categoriesSectionText.itIsRemovedFromAllBlueprints(organization),
      action: commonText.delete,
      danger: true,
    })
    if (agreed) remove.mutate(id)
  }
  const shown = set.isPending ? set.variables : chosen
  const fault = create.error ? (issueFor(create.error, 'name') ?? describeError(create.error).message) : undefined
  return (
    <Section title={commonText.categories} text={categoriesSectionText.sharedByAllBlueprintsOf(organization)}>
      <ErrorNote
        error={list.error}
        title={categoriesSectionText.couldNotLoadTheCategories}
        onRetry={() => void list.refetch()}
      />
      {list.data?.length === 0 && (
        <Text size="sm" c="dimmed" mb="sm">
          {categoriesSectionText.noCategoriesYet}
        </Text>
      )}
      {list.data?.map((category) => (
        <div key={category.id} className={classes.category}>
          <Checkbox
            label={category.name}
            checked={shown.includes(category.id)}
            onChange={(event) =>
              set.mutate(
                event.currentTarget.checked ? [...chosen, category.id] : chosen.filter((id) => id !== category.id),
              )
            }
          />
          <ActionIcon
            aria-label={categoriesSectionText.deleteTheCategory2(category.name)}
            onClick={() => void askRemove(category.id, category.name)}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <form onSubmit={submit} noValidate>
        <div className={classes.add} style={{ marginTop: 8 }}>
          <TextInput
            aria-label={categoriesSectionText.newCategory}
            placeholder={categoriesSectionText.newCategory}
            value={name}
            maxLength={200}
            onChange={(event) => {
              setName(event.currentTarget.value)
              create.reset()
            }}
          />
          <Button
            type="submit"
            variant="default"
            disabled={name.trim() === ''}
            loading={create.isPending}
            leftSection={<IconPlus size={16} aria-hidden />}
          >
            {commonText.add}
          </Button>
        </div>
        {fault && (
          <Text size="sm" c="var(--mantine-color-error)" mt={6} role="alert">
            {fault}
          </Text>
        )}
      </form>
    </Section>
  )
}
