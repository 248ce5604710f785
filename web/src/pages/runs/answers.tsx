import { Alert, Skeleton, Text, Title } from '@mantine/core'
import { IconHandStop, IconLock } from '@tabler/icons-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { describeError } from '../../api/errors'
import { useSignedIn } from '../../api/session'
import { ErrorNote, Time } from '../../parts'
import { later } from '../../parts/later'
import { showDuration } from '../../parts/time-words'
import { ApprovalForm } from './answer-approval'
import { BudgetForm } from './answer-budget'
import { OutcomeForm } from './answer-outcome'
import { SignInForm } from './answer-sign-in'
import { ApprovalLink } from './approval-link'
import { expiry, whyNot } from './may-answer'
import classes from './run-page.module.css'
import { nameOf } from './step-rows'
import { type Awaiting, type Run, waitsOf } from './types'
import { useAnswer } from './use-answer'
import type { RunFacts } from './use-run-facts'
import { useServerClock } from './use-server-clock'
import { answersText } from '../../text/runs'

// Schema forms are a lot of code, and most runs ask nothing.
const HumanForm = later(
  () => import('./answer-human'),
  ({ asked }) => <Skeleton h={heightOf(asked)} />,
).Component

type Props = { run: Run; facts: RunFacts; onRecord: (run: Run) => void; onStale: () => void }

/** The open requests of a run, each with its form, and a note if another user answered one in the meantime. */
export function Answers({ run, facts, onRecord, onStale }: Props) {
  const waits = waitsOf(run)
  const [taken, setTaken] = useState<string | null>(null)
  return (
    <>
      {taken && (
        <Alert
          color="blue"
          mb="md"
          withCloseButton
          onClose={() => setTaken(null)}
          title={answersText.alreadyAnswered}
          role="status"
        >
          {answersText.wasAnsweredExpiredOrCancelled(taken)}
        </Alert>
      )}
      {waits.map((asked) => (
        <Answer
          key={`${asked.nodeId} ${asked.requestedAt}`}
          run={run}
          asked={asked}
          facts={facts}
          onRecord={onRecord}
          onStale={() => {
            setTaken(titleOf(run, asked))
            onStale()
          }}
        />
      ))}
    </>
  )
}

const titles: Record<Awaiting['kind'], string> = {
  human: answersText.waitingForInput,
  approval: answersText.waitingForApproval,
  oauth: answersText.waitingForASignIn,
  'unknown-outcome': answersText.waitingForADecision,
  budget: answersText.waitingForMoreBudget,
}

function titleOf(run: Run, asked: Awaiting): string {
  const step = run.steps.find((one) => one.nodeId === asked.nodeId)
  return step ? nameOf(step) : asked.nodeId
}

function Answer({ run, asked, facts, onRecord, onStale }: Props & { asked: Awaiting }) {
  const { user } = useSignedIn()
  const now = useServerClock(asked.expiresAt !== undefined)
  const answer = useAnswer(run, asked, onRecord, onStale)
  const reason = whyNot(asked.kind, {
    userId: user.id,
    principal: facts.listed?.userId,
    canManage: facts.blueprint === null ? false : facts.blueprint?.can_manage,
  })
  const left = expiry(asked.expiresAt, now, showDuration)
  const note = useRef<HTMLDivElement>(null)
  const section = useRef<HTMLElement>(null)
  // The question disappears with its answer; the focus stays on the page.
  useLayoutEffect(() => {
    const question = section.current
    return () => {
      const at = document.activeElement
      if (at === document.body || question?.contains(at))
        document.querySelector<HTMLElement>('#main h1')?.focus({ preventScroll: true })
    }
  }, [])
  const failed = answer.isError
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!failed) return
    const wrong = body.current?.querySelector<HTMLElement>('[aria-invalid=true]')
    if (wrong) wrong.focus()
    else note.current?.scrollIntoView({ block: 'nearest' })
  }, [failed, answer.error])
  const Form =
    { human: HumanForm, approval: ApprovalForm, oauth: SignInForm, 'unknown-outcome': OutcomeForm, budget: BudgetForm }[
      asked.kind
    ] ?? HumanForm
  const { code, issues } = answer.error ? describeError(answer.error) : { code: '', issues: [] }
  return (
    <section ref={section} className={classes.answer} aria-labelledby={`answer-${asked.nodeId}`}>
      <div className={classes.answerHead}>
        <Title order={2} size="h4" id={`answer-${asked.nodeId}`}>
          <IconHandStop size={18} aria-hidden />
          {titles[asked.kind] ?? answersText.waitingForInput}: {titleOf(run, asked)}
        </Title>
        <Text size="sm">
          {answersText.requested} <Time at={asked.requestedAt} past />
          {left && <>, {left}</>}
        </Text>
      </div>
      <div ref={body} className={classes.answerBody}>
        <div className={classes.prompt}>{asked.prompt}</div>
        {reason ? (
          <Text size="sm" c="dimmed">
            <IconLock size={15} aria-hidden style={{ verticalAlign: '-2px' }} /> {reason}
          </Text>
        ) : (
          <>
            <Form asked={asked} run={run} facts={facts} answering={answer} />
            {/* Without its prompt, a question of a private run is hidden from this user, and a link would show it. */}
            {(asked.kind === 'human' || asked.kind === 'approval') && asked.prompt && (
              <ApprovalLink run={run} asked={asked} />
            )}
          </>
        )}
        <div ref={note}>
          {failed && code !== 'CONFLICT' && !(asked.kind === 'human' && issues.length > 0) && (
            <>
              <br />
              <ErrorNote
                error={answer.error}
                title={
                  code === 'FORBIDDEN' ? answersText.youCannotAnswerThisRequest : answersText.couldNotSubmitTheAnswer
                }
              />
            </>
          )}
        </div>
      </div>
    </section>
  )
}

// Approximately the height of the form: a field takes 84 pixels, the button 52.
function heightOf({ schema }: Awaiting): number {
  const properties = (schema as { properties?: object } | null | undefined)?.properties
  return properties ? 52 + 84 * Math.min(Object.keys(properties).length, 12) : 96
}
