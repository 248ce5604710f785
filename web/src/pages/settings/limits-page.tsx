import { Badge, Box, Code, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { serverInfo } from '../../api/server-info'
import { CopyField, ErrorNote, KeyValue, showCount, Time } from '../../parts'
import classes from './limits.module.css'
import { type Info, type Limit, limitsOf, variableOf } from './limits-list'
import { Section } from './section'
import { SettingsFrame } from './settings-frame'

/** What this server allows, and which flag of it changes that. */
export default function LimitsPage() {
  const info = useQuery({ ...serverInfo, staleTime: 5000 })
  return (
    <SettingsFrame
      title="Limits"
      text="What this server allows. Whoever runs it changes a limit by starting it with another flag, or with the environment variable of that flag."
    >
      {info.error && !info.data && <ErrorNote error={info.error} onRetry={() => void info.refetch()} />}
      {info.isPending && (
        <Stack>
          <Skeleton h={120} />
          <Skeleton h={260} />
          <Skeleton h={140} />
        </Stack>
      )}
      {info.data && (
        <>
          <Section title="Your blueprints">
            <Blueprints of={info.data} />
          </Section>
          {limitsOf(info.data).map(({ title, limits }) => (
            <Section key={title} title={title}>
              <dl className={classes.list} style={{ margin: 0 }}>
                {limits.map((limit) => (
                  <Row key={limit.flag} of={limit} />
                ))}
              </dl>
            </Section>
          ))}
          <Section title="This server" boxed>
            <About of={info.data} />
          </Section>
        </>
      )}
    </SettingsFrame>
  )
}

function Blueprints({ of: { limits } }: { of: Info }) {
  const { blueprints, maxBlueprints } = limits
  const share = maxBlueprints > 0 ? Math.min(100, (100 * blueprints) / maxBlueprints) : 0
  return (
    <div className={classes.list}>
      <div className={classes.limit}>
        <div>
          <div className={classes.title}>Blueprints that you made</div>
          <div className={classes.text}>
            Deleted ones do not count. With a limit, one more is refused until you delete one.
          </div>
        </div>
        <div className={classes.value}>
          {maxBlueprints > 0
            ? `${blueprints.toLocaleString('en')} of ${maxBlueprints.toLocaleString('en')}`
            : `${blueprints.toLocaleString('en')}, no limit`}
          {maxBlueprints > 0 && (
            <Progress
              mt={6}
              value={share}
              color={share >= 90 ? 'red' : 'petrol'}
              aria-label="Share of the blueprints allowed"
            />
          )}
        </div>
        <Flag flag="--max-blueprints" example="100" />
      </div>
    </div>
  )
}

function Row({ of: { title, text, value, flag, example } }: { of: Limit }) {
  return (
    <div className={classes.limit}>
      <dt>
        <span className={classes.title}>{title}</span>
        <br />
        <span className={classes.text}>{text}</span>
      </dt>
      <dd className={classes.value} style={{ margin: 0 }}>
        {value}
      </dd>
      <dd style={{ margin: 0 }}>
        <Flag flag={flag} example={example} />
      </dd>
    </div>
  )
}

function Flag({ flag, example }: { flag: string; example: string }) {
  return (
    <span className={classes.flag}>
      <Code>
        {flag} {example}
      </Code>{' '}
      <Text span size="xs" c="dimmed">
        or {variableOf(flag)}
      </Text>
    </span>
  )
}

function About({ of }: { of: Info }) {
  return (
    <Stack>
      <KeyValue
        pairs={[
          ['Version', of.version],
          ['Started', <Time key="started" at={of.startedAt} />],
          [
            'Its clock',
            of.clock === 'virtual' ? (
              <>
                Virtual: it stands at <Time at={of.now} absolute /> until it is moved
              </>
            ) : (
              <Time key="now" at={of.now} absolute />
            ),
          ],
          ['Storage', of.ephemeral ? <Badge color="amber">In memory: nothing is kept after a stop</Badge> : 'On disk'],
          [
            'Mail',
            of.mailDomain ? (
              `Received for addresses @${of.mailDomain}`
            ) : (
              <>
                Not received (<Code>--smtp-addr</Code> turns it on)
              </>
            ),
          ],
          ['Node types', showCount(of.nodeTypes, 'type')],
        ]}
      />
      <Box maw={480}>
        <CopyField label="Address for the API" value={`${of.apiHost}/api/trpc`} />
      </Box>
    </Stack>
  )
}
