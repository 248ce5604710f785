import { Badge, Box, Code, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { serverInfo } from '../../api/server-info'
import { CopyField, ErrorNote, KeyValue, Time } from '../../parts'
import classes from './limits.module.css'
import { type Info, type Limit, limitsOf, variableOf } from './limits-list'
import { Section } from './section'
import { SettingsFrame } from './settings-frame'
import { limitsPageText } from '../../text/settings'
import { commonText } from '../../text/common'

/** The limits of this server, and the flags that change them. */
export default function LimitsPage() {
  const info = useQuery({ ...serverInfo, staleTime: 5000 })
  return (
    <SettingsFrame title={limitsPageText.limits} text={limitsPageText.limitsOfThisServerTheOperator}>
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
          <Section title={limitsPageText.yourBlueprints}>
            <Blueprints of={info.data} />
          </Section>
          {limitsOf(info.data).map(({ title, limits }) => (
            <Section key={title} title={title}>
              <dl className={classes.list}>
                {limits.map((limit) => (
                  <Row key={limit.flag} of={limit} />
                ))}
              </dl>
            </Section>
          ))}
          <Section title={limitsPageText.thisServer} boxed>
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
    <dl className={classes.list}>
      <div className={classes.limit}>
        <dt>
          <span className={classes.title}>{limitsPageText.blueprintsYouCreated}</span>
          <br />
          <span className={classes.text}>{limitsPageText.deletedBlueprintsDoNotCount}</span>
        </dt>
        <dd className={classes.value}>
          {maxBlueprints > 0
            ? limitsPageText.of(blueprints.toLocaleString('en'), maxBlueprints.toLocaleString('en'))
            : limitsPageText.noLimit(blueprints.toLocaleString('en'))}
          {maxBlueprints > 0 && (
            <Progress
              mt={6}
              value={share}
              color={share >= 90 ? 'red' : 'petrol'}
              aria-label={limitsPageText.shareOfTheAllowedBlueprints}
            />
          )}
        </dd>
        <dd>
          <Flag flag="--max-blueprints" example="100" />
        </dd>
      </div>
    </dl>
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
      <dd className={classes.value}>{value}</dd>
      <dd>
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
        {limitsPageText.or(variableOf(flag))}
      </Text>
    </span>
  )
}

function About({ of }: { of: Info }) {
  return (
    <Stack>
      <KeyValue
        pairs={[
          [commonText.version, of.version],
          [commonText.started, <Time key="started" at={of.startedAt} />],
          [
            limitsPageText.serverClock,
            of.clock === 'virtual' ? (
              <>
                {limitsPageText.virtualShows} <Time at={of.now} absolute /> {limitsPageText.untilItIsAdvanced}
              </>
            ) : (
              <Time key="now" at={of.now} absolute />
            ),
          ],
          [
            limitsPageText.storage,
            of.ephemeral ? <Badge color="amber">{limitsPageText.inMemoryDataIsLostWhen}</Badge> : limitsPageText.onDisk,
          ],
          [
            limitsPageText.mail,
            of.mailDomain ? (
              limitsPageText.receivedForAddressesAt(of.mailDomain)
            ) : (
              <>
                {limitsPageText.notReceivedEnableWith} <Code>{limitsPageText.smtpAddr}</Code>)
              </>
            ),
          ],
          [limitsPageText.nodeTypes, limitsPageText.types(of.nodeTypes)],
        ]}
      />
      <Box maw={480}>
        <CopyField label={limitsPageText.apiAddress} value={`${of.apiHost}/api/trpc`} />
      </Box>
    </Stack>
  )
}
