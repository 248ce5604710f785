import { Button, NativeSelect, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowLeft, IconRestore } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/client'
import { confirm, EmptyState, ErrorNote, notifyDone, notifyError, useUrlStates } from '../../parts'
import { contentVersions, differOnlyInLayout } from '../../diff/diff'
import { noteChange, type Blueprint } from '../../api/use-blueprint'
import { Comparison } from './comparison'
import { Proposal, Proposals } from './proposals'
import { type Version, VersionList } from './version-list'
import classes from './versions.module.css'
import { versionsTabText } from '../../text/blueprints'

/** The Versions page of a blueprint: the changes and their authors, a comparison of two versions, and restoring one. */
export default function VersionsTab({ blueprint }: { blueprint: Blueprint }) {
  const versions = useQuery({
    queryKey: ['blueprint', blueprint.id, 'versions'],
    queryFn: () => api.blueprint.versions.query({ id: blueprint.id }),
    enabled: blueprint.can_manage,
  })
  if (!blueprint.can_manage)
    return <EmptyState title={versionsTabText.versionsAreHidden} text={versionsTabText.onlyPeopleWhoManageThis} />
  if (versions.error && !versions.data)
    return (
      <ErrorNote
        error={versions.error}
        title={versionsTabText.couldNotLoadTheVersions}
        onRetry={() => void versions.refetch()}
      />
    )
  if (!versions.data)
    return (
      <div className={classes.columns} aria-busy="true">
        <Skeleton h={420} />
        <Skeleton h={420} />
      </div>
    )
  return <Versions blueprint={blueprint} all={versions.data} />
}

function Versions({ blueprint, all }: { blueprint: Blueprint; all: Version[] }) {
  const versions = useMemo(() => contentVersions(all), [all])
  const [chosen, set] = useUrlStates({ from: '', to: '', draft: '' })
  const narrow = useMediaQuery('(max-width: 61.99em)')
  // An address may name a version that is not listed: it means the version with the same content.
  const at = (wanted: string) => all.findIndex(({ version }) => version === wanted)
  const named = (wanted: string) =>
    at(wanted) < 0 ? undefined : versions.find(({ version }) => at(wanted) <= at(version))
  const to = (chosen.to ? named(chosen.to) : undefined) ?? (narrow ? undefined : versions[0])
  const from = (chosen.from ? named(chosen.from) : undefined) ?? (to && versions[versions.indexOf(to) + 1])
  const restore = useMutation({
    mutationFn: (version: Version) =>
      api.blueprint.update.mutate({
        id: blueprint.id,
        blueprint_map: (version.blueprint_map ?? { nodes: [] }) as Record<string, unknown>,
        environment_variables: withStoredSecrets(version, versions[0]),
      }),
    onSuccess: (after, version) => {
      noteChange(blueprint.id, after)
      set({ from: '', to: '' })
      notifyDone(
        after.version === all[0]?.version
          ? versionsTabText.alreadyTheSameAs(version.version)
          : versionsTabText.versionIsTheSameAs(after.version, version.version),
      )
    },
    onError: notifyError,
  })
  const ask = async (version: Version) => {
    const agreed = await confirm({
      title: versionsTabText.restoreVersion(version.version),
      text: versionsTabText.thisCreatesANewVersionWith,
      action: versionsTabText.restore(version.version),
    })
    if (agreed) restore.mutate(version)
  }
  const list = (
    <VersionList
      blueprint={blueprint}
      versions={versions}
      chosen={to?.version}
      onChoose={(version) => set({ to: version, from: '' }, { push: true })}
    />
  )
  if (chosen.draft)
    return (
      <Proposal
        blueprint={blueprint}
        id={chosen.draft}
        isCurrent={(version) => {
          const made = all.find((one) => one.version === version)
          return made !== undefined && differOnlyInLayout(made, all[0]!)
        }}
        onDone={() => set({ draft: '' })}
      />
    )
  const proposals = (
    <Proposals blueprint={blueprint} onReview={(draft) => set({ draft, from: '', to: '' }, { push: true })} />
  )
  if (narrow && !to)
    return (
      <>
        {proposals}
        {list}
      </>
    )
  return (
    <>
      {proposals}
      <div className={classes.columns}>
        {!narrow && list}
        {to && (
          <section aria-label={versionsTabText.comparison} className={classes.side}>
            {narrow && (
              <Button
                variant="subtle"
                size="compact-md"
                mb="xs"
                leftSection={<IconArrowLeft size={16} aria-hidden />}
                onClick={() => set({ from: '', to: '' })}
              >
                {versionsTabText.allVersions}
              </Button>
            )}
            <div className={classes.tools}>
              <NativeSelect
                label={versionsTabText.from}
                value={from?.version ?? ''}
                onChange={(event) => set({ from: event.currentTarget.value, to: to.version })}
                data={[
                  ...(from ? [] : [{ value: '', label: versionsTabText.nothing }]),
                  ...versions.map(({ version }) => version),
                ]}
              />
              <NativeSelect
                label={versionsTabText.to}
                value={to.version}
                onChange={(event) => set({ to: event.currentTarget.value, from: from?.version ?? '' })}
                data={versions.map(({ version }, index) => ({
                  value: version,
                  label: index === 0 ? versionsTabText.current(version) : version,
                }))}
              />
              {to !== versions[0] && (
                <Button
                  variant="default"
                  leftSection={<IconRestore size={17} aria-hidden />}
                  loading={restore.isPending}
                  onClick={() => void ask(to)}
                >
                  {versionsTabText.restore(to.version)}
                </Button>
              )}
            </div>
            <Comparison
              from={from ? { ...from, name: from.version } : nothing}
              to={{ ...to, name: to.version }}
              title={from ? versionsTabText.fromTo(from.version, to.version) : versionsTabText.versionFirst(to.version)}
            />
          </section>
        )}
      </div>
    </>
  )
}

const nothing = { blueprint_map: { nodes: [] }, environment_variables: [], name: versionsTabText.nothing }

// A secret sent as null keeps its current value; a variable that is no longer secret has none to keep.
function withStoredSecrets(version: Version, now: Version | undefined): unknown[] {
  const kept = new Set((now?.environment_variables ?? []).filter(isSecret).map(({ name }) => name))
  return version.environment_variables.map((variable) =>
    isSecret(variable) && kept.has(variable.name) ? { ...variable, default: null } : variable,
  )
}

function isSecret(variable: unknown): variable is { name: unknown; secret: true } {
  return typeof variable === 'object' && variable !== null && (variable as { secret?: unknown }).secret === true
}
