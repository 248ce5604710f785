import { Anchor, Button, CopyButton, Group, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconChevronRight, IconCopy, IconDownload } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { JsonView, showBytes, showDuration } from '../../parts'
import { download } from '../../parts/download'
import { bodyOf, curlOf, type Exchange, isMail, outcomeOf, targetOf } from './traffic-words'
import classes from './traffic.module.css'
import { ms } from './types'
import { trafficRowText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = {
  exchange: Exchange
  /** The start of the run, in milliseconds. */ start: number
  /** The name of the step. */ name: string
  onStep: (address: string) => void
}

/** One exchange as an expandable line. */
export function ExchangeRow({ exchange, start, name, onStep }: Props) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const { text, failed } = outcomeOf(exchange)
  return (
    <li className={classes.item}>
      <button
        type="button"
        className={classes.row}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <IconChevronRight size={15} aria-hidden className={classes.chevron} />
        <time dateTime={exchange.at} title={exchange.at}>
          +{showDuration(Math.max(0, ms(exchange.at) - start)) || trafficRowText.n0Ms}
        </time>
        <span className={classes.name} title={exchange.nodeId}>
          {name}
          {exchange.attempt !== undefined && exchange.attempt > 1 && trafficRowText.attempt(exchange.attempt)}
        </span>
        <span className={classes.method}>{exchange.request.method}</span>
        <span className={classes.target}>{targetOf(exchange)}</span>
        <span className={classes.outcome} data-failed={failed || undefined}>
          {failed && <IconAlertTriangle size={14} role="img" aria-label={trafficRowText.failed} />}
          {text}
        </span>
      </button>
      {open && (
        <div id={id} className={classes.inside}>
          <Inside exchange={exchange} onStep={onStep} />
        </div>
      )}
    </li>
  )
}

function Inside({ exchange, onStep }: Pick<Props, 'exchange' | 'onStep'>) {
  const { request, response, error, nodeId } = exchange
  const curl = curlOf(exchange)
  return (
    <>
      <div className={classes.head}>
        <Text size="sm" className={classes.url}>
          {request.method} {request.url}
        </Text>
        <Group gap={4}>
          {nodeId && (
            <Anchor component="button" type="button" size="sm" mih={24} px={6} onClick={() => onStep(nodeId)}>
              {trafficRowText.goToStep}
            </Anchor>
          )}
          {curl && (
            <CopyButton value={curl} timeout={2000}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  size="compact-sm"
                  color={copied ? 'green' : undefined}
                  leftSection={copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
                  onClick={copy}
                >
                  {copied ? commonText.copied : trafficRowText.copyAsCurl}
                </Button>
              )}
            </CopyButton>
          )}
        </Group>
      </div>
      <div className={classes.sides}>
        <Side
          title={isMail(exchange) ? trafficRowText.mail : trafficRowText.request}
          headers={request.headers}
          body={request.body}
          cut={request.cut}
          label={trafficRowText.requestBodyFor(targetOf(exchange))}
        />
        {response ? (
          <Side
            title={isMail(exchange) ? trafficRowText.mailServerReply : commonText.response}
            first={trafficRowText.status(response.status)}
            headers={response.headers}
            body={response.body}
            cut={response.cut}
            label={trafficRowText.responseBodyFrom(targetOf(exchange))}
            error={error}
            brief={isMail(exchange)}
          />
        ) : (
          <section className={classes.side}>
            <Title order={3} size="h4">
              {commonText.response}
            </Title>
            <Text size="sm" className={classes.error}>
              {error ?? trafficRowText.noResponseYet}
            </Text>
          </section>
        )}
      </div>
    </>
  )
}

type SideProps = {
  title: string
  first?: string
  headers?: Record<string, string>
  body: unknown
  cut?: boolean
  label: string
  error?: string
  /** Omits the note about a missing body. */ brief?: boolean
  /** The level of its heading; 3 by default. */ level?: 3 | 4
}

/** One side of an exchange: headers and body. */
export function Side({ title, first, headers = {}, body, cut, label, error, brief = false, level = 3 }: SideProps) {
  const names = Object.keys(headers)
  return (
    <section className={classes.side}>
      <Title order={level} size="h4">
        {title}
      </Title>
      {first && (
        <Text size="sm" className={classes.first}>
          {first}
        </Text>
      )}
      {error && (
        <Text size="sm" className={classes.error}>
          {error}
        </Text>
      )}
      {names.length > 0 && (
        <dl className={classes.headers}>
          {names.map((name) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{headers[name]}</dd>
            </div>
          ))}
        </dl>
      )}
      {!(brief && bodyOf(body).kind === 'none') && <Contents body={body} label={label} />}
      {cut && (
        <Text size="xs" c="dimmed" mt={4}>
          {trafficRowText.theResponseExceededTheSize}
        </Text>
      )}
    </section>
  )
}

const cutAt = 20_000

function Contents({ body, label }: { body: unknown; label: string }) {
  const [whole, setWhole] = useState(false)
  const kept = bodyOf(body)
  switch (kept.kind) {
    case 'none':
      return (
        <Text size="sm" c="dimmed">
          {trafficRowText.noBody}
        </Text>
      )
    case 'value':
      return <JsonView value={kept.value} label={label} rows={20} maxHeight="360px" />
    case 'bytes':
      return (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconDownload size={15} aria-hidden />}
          onClick={() => download('body.bin', bytes(kept.base64), 'application/octet-stream')}
        >
          {trafficRowText.ofBinaryData(showBytes(kept.size))}
        </Button>
      )
    default:
      return (
        <>
          <pre className={classes.text} tabIndex={0} role="region" aria-label={label}>
            {whole ? kept.text : kept.text.slice(0, cutAt)}
          </pre>
          {!whole && kept.text.length > cutAt && (
            <Button variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
              {trafficRowText.showAll(showBytes(kept.text.length))}
            </Button>
          )}
        </>
      )
  }
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}
