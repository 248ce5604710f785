import { Alert, Button, Group, Skeleton, Text, Title } from '@mantine/core'
import { IconArrowLeft, IconRobot } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { type Blueprint, useBlueprint } from '../../api/use-blueprint'
import { confirm, ErrorNote, notifyDone, notifyError } from '../../parts'
import { Comparison } from './comparison'
import { draftIn, tagOfDrafts } from './drafts'
import { useApply } from './use-apply'
import { proposalsText } from '../../text/blueprints'

/** The changes to a blueprint that agents propose. */
export function Proposals({ blueprint, onReview }: { blueprint: Blueprint; onReview: (draft: string) => void }) {
  const drafts = useQuery({
    queryKey: ['blueprints', 'drafts', blueprint.id],
    queryFn: () => api.blueprint.listSummaries.query({ tag: tagOfDrafts(blueprint.id), scope: 'all', limit: 20 }),
  })
  const proposed = (drafts.data?.data ?? []).filter(({ tags }) => draftIn(tags)?.proposed)
  return proposed.map(({ id, description, creator_name }) => (
    <Alert
      key={id}
      icon={<IconRobot size={20} aria-hidden />}
      title={proposalsText.changeProposedBy(creator_name)}
      mb="md"
    >
      {description}
      <Group gap="xs" mt="xs">
        <Button size="compact-md" onClick={() => onReview(id)}>
          {proposalsText.reviewChanges}
        </Button>
      </Group>
    </Alert>
  ))
}

type ProposalProps = {
  blueprint: Blueprint
  /** The draft. */
  id: string
  /** Whether a version of the blueprint has its current content. */
  isCurrent: (version: string) => boolean
  onDone: () => void
}

/** One draft compared with the blueprint that it changes, to be applied or discarded. */
export function Proposal({ blueprint, id, isCurrent, onDone }: ProposalProps) {
  const { data: draft, error, refetch } = useBlueprint(id)
  const { apply, applying } = useApply()
  const discard = useMutation({
    mutationFn: () => api.blueprint.delete.mutate({ id }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
      notifyDone(proposalsText.discarded)
      onDone()
    },
    onError: notifyError,
  })
  if (error && !draft)
    return <ErrorNote error={error} title={proposalsText.couldNotLoadTheDraft} onRetry={() => void refetch()} />
  if (!draft) return <Skeleton h={420} aria-busy="true" />
  const of = draftIn(draft.tags)
  const isOfThis = of?.of === blueprint.id
  const stale = !isOfThis || !isCurrent(of.from ?? '')
  const ask = async () => {
    const agreed = await confirm({
      title: proposalsText.discardThisDraft,
      text: proposalsText.itIsDeletedTheBlueprint,
      action: proposalsText.discard,
      danger: true,
    })
    if (agreed) discard.mutate()
  }
  return (
    <section aria-label={proposalsText.proposedChanges}>
      <Button
        variant="subtle"
        size="compact-md"
        mb="xs"
        leftSection={<IconArrowLeft size={16} aria-hidden />}
        onClick={onDone}
      >
        {proposalsText.allVersions}
      </Button>
      <Title order={2} size="h3">
        {proposalsText.proposedChanges}
      </Title>
      <Text my="xs">{draft.description}</Text>
      {stale && (
        <Text size="sm" c="dimmed" mb="xs">
          {proposalsText.madeFrom(of?.from ?? '', blueprint.version)}
        </Text>
      )}
      <Group gap="xs">
        {of?.proposed && !stale && (
          <Button loading={applying} onClick={() => void apply(draft, of)}>
            {proposalsText.apply}
          </Button>
        )}
        <Button variant="default" loading={discard.isPending} onClick={() => void ask()}>
          {proposalsText.discard}
        </Button>
      </Group>
      <Comparison
        from={{ ...blueprint, name: blueprint.version }}
        to={{ ...draft, name: proposalsText.theDraft }}
        title={proposalsText.fromToTheDraft(blueprint.version)}
      />
    </section>
  )
}
