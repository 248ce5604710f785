import { Badge, Button, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Outputs } from '../../api/client'
import { Time } from '../../parts'
import { changeWords } from '../../diff/change-words'
import { diffVersions } from '../../diff/diff'
import type { Blueprint } from '../../api/use-blueprint'
import { useNames } from './use-names'
import classes from './versions.module.css'
import { versionListText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = {
  blueprint: Blueprint
  versions: (Version & { until: string })[]
  chosen: string | undefined
  onChoose: (version: string) => void
}

const atOnce = 30

/** A stored version. */
export type Version = Outputs['blueprint']['versions'][number]

/** Versions, newest first, each with its changes. */
export function VersionList({ blueprint, versions, chosen, onChoose }: Props) {
  const [shown, setShown] = useState(atOnce)
  const name = useNames(blueprint)
  const lines = useMemo(
    () =>
      versions.slice(0, shown).map((version, index) => {
        const before = versions[index + 1]
        return before ? changeWords(diffVersions(before, version)) : [commonText.created]
      }),
    [versions, shown],
  )
  return (
    <div>
      <ol className={classes.list} aria-label={versionListText.versionsNewestFirst}>
        {versions.slice(0, shown).map(({ version, until, createdAt, createdBy }, index) => (
          <li key={version}>
            <button
              type="button"
              className={classes.version}
              aria-current={version === chosen || undefined}
              onClick={() => onChoose(version)}
            >
              <span className={classes.head}>
                <Text fw={600} size="sm" component="span">
                  {version}
                </Text>
                {until !== version && (
                  <Text size="xs" c="dimmed" component="span">
                    {versionListText.to(until)}
                  </Text>
                )}
                {index === 0 && (
                  <Badge size="sm" variant="filled">
                    {versionListText.current}
                  </Badge>
                )}
                <Text size="xs" c="dimmed" component="span" ml="auto">
                  <Time at={createdAt} />
                </Text>
              </span>
              <span className={classes.what}>
                {lines[index]!.slice(0, 3).map((line) => (
                  <span key={line}>{line}</span>
                ))}
              </span>
              <Text size="xs" c="dimmed" component="span">
                {name(createdBy)}
              </Text>
            </button>
          </li>
        ))}
      </ol>
      {versions.length > shown && (
        <Button variant="default" mt="sm" fullWidth onClick={() => setShown(shown + 100)}>
          {versionListText.showOlderVersions}
        </Button>
      )}
    </div>
  )
}
