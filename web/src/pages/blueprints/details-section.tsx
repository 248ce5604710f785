import { Badge, Group, Stack, TagsInput, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api } from '../../api/client'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone } from '../../parts'
import { SaveButton } from './save-button'
import { Section } from './section'
import { type Blueprint, useUpdate } from '../../api/use-blueprint'
import { useDraft } from './use-draft'
import { detailsSectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** Description and tags. */
export function DetailsSection({ blueprint }: { blueprint: Blueprint }) {
  const update = useUpdate(blueprint.id)
  const [{ description, tags }, set, changed] = useDraft({ description: blueprint.description, tags: blueprint.tags })
  const known = useQuery({
    queryKey: ['blueprints', 'tags'],
    queryFn: () => api.blueprint.listTags.query(),
    staleTime: 60_000,
    enabled: blueprint.can_manage,
  })
  if (!blueprint.can_manage) {
    return (
      <Section title={commonText.description}>
        <Text
          size="sm"
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          c={blueprint.description ? undefined : 'dimmed'}
        >
          {blueprint.description || detailsSectionText.noDescription}
        </Text>
        {blueprint.tags.length > 0 && (
          <Group gap={6} mt="sm">
            {blueprint.tags.map((tag) => (
              <Badge key={tag} color="gray">
                {tag}
              </Badge>
            ))}
          </Group>
        )}
      </Section>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changed) update.mutate({ description, tags }, { onSuccess: () => notifyDone(commonText.saved) })
  }
  const at = (field: string) => (update.error ? issueFor(update.error, field) : undefined)
  return (
    <Section title={commonText.description}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Textarea
            aria-label={commonText.description}
            placeholder={detailsSectionText.purposeAudienceAnd}
            value={description}
            maxLength={10_000}
            autosize
            minRows={3}
            maxRows={14}
            error={at('description')}
            onChange={(event) => set({ tags, description: event.currentTarget.value })}
          />
          <TagsInput
            label={detailsSectionText.tags}
            description={detailsSectionText.pressEnterOrTypeAComma}
            value={tags}
            onChange={(next) => set({ description, tags: next })}
            data={known.data?.map(({ tag }) => tag) ?? []}
            maxTags={100}
            limit={20}
            error={at('tags')}
          />
          <ErrorNote error={update.error} title={detailsSectionText.couldNotSaveTheDetails} />
          <SaveButton changed={changed} saving={update.isPending} />
        </Stack>
      </form>
    </Section>
  )
}
