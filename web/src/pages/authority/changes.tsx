import { Anchor, Button, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { changeWords } from '../../diff/change-words'
import { diffVersions } from '../../diff/diff'
import { useBlueprint } from '../../api/use-blueprint'
import { VersionDiffView } from '../../diff/version-diff'
import changes from '../../diff/diff.module.css'
import { compared } from './grant-basis'
import { changesText } from '../../text/authority'

const nothing = { blueprint_map: { nodes: [] }, environment_variables: [] }

/**
 * The changes of a version since the newest version that the user wrote or granted: a summary, and the full diff on
 * request.
 */
export function Changes({
  blueprintId,
  version,
  basis,
}: {
  blueprintId: string
  version: string
  basis: string | null | undefined
}) {
  const blueprint = useBlueprint(blueprintId)
  const manages = blueprint.data?.can_manage === true
  const all = useQuery({
    queryKey: ['blueprint', blueprintId, 'versions'],
    queryFn: () => api.blueprint.versions.query({ id: blueprintId }),
    enabled: manages,
    retry: false,
  })
  const [open, setOpen] = useState(false)
  const { before, after } = compared(all.data, version, basis)
  const diff = useMemo(() => (after ? diffVersions(before ?? nothing, after) : undefined), [before, after])
  if (blueprint.isPending || (manages && all.isPending))
    return <Skeleton h={48} aria-label={changesText.loadingTheChanges} />
  if (!diff || !after)
    return (
      <Text size="sm">
        <Anchor component={Link} href={`/blueprints/${blueprintId}/edit`} inherit>
          {changesText.viewBlueprint}
        </Anchor>
      </Text>
    )
  return (
    <div>
      <Text size="sm" fw={600}>
        {before ? changesText.changesSinceVersionWhichYou(before.version) : changesText.youHaveNotWrittenOrGranted}
      </Text>
      <Text size="sm" component="ul" className={changes.words}>
        {changeWords(diff).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </Text>
      <Button variant="subtle" size="compact-sm" ml={-8} mt={4} aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? changesText.hideChanges : changesText.showChanges}
      </Button>
      {open && (
        <VersionDiffView
          before={before ?? nothing}
          after={after}
          diff={diff}
          names={[before?.version ?? changesText.nothing, after.version]}
        />
      )}
    </div>
  )
}
