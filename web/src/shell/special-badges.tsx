import { Popover, UnstyledButton } from '@mantine/core'
import { IconClockExclamation, IconTestPipe } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ServerInfo } from '../api/server-info'
import { showAbsolute } from '../parts/time-words'
import { ClockNote, SandboxNote } from './server-notes'
import classes from './special-badges.module.css'
import { specialBadgesText } from '../text/shell'

/** Badges of a server that is a sandbox or runs on a virtual clock. */
export default function SpecialBadges({ info }: { info: ServerInfo }) {
  return (
    <>
      {info.sandbox && (
        <ServerBadge
          name={specialBadgesText.sandbox + specialBadgesText.noRealServices}
          note={<SandboxNote host={info.apiHost} />}
        >
          <IconTestPipe size={15} aria-hidden />
          <span>
            {specialBadgesText.sandbox}
            <span className={classes.long}>{specialBadgesText.noRealServices}</span>
          </span>
        </ServerBadge>
      )}
      {info.clock === 'virtual' && (
        <ServerBadge
          kind="clock"
          name={specialBadgesText.virtualClock(showAbsolute(new Date(info.now)))}
          note={<ClockNote host={info.apiHost} now={info.now} />}
        >
          <IconClockExclamation size={15} aria-hidden />
          <span className={classes.middle}>{short(info.now)}</span>
        </ServerBadge>
      )}
    </>
  )
}

function ServerBadge({
  name,
  kind,
  note,
  children,
}: {
  name: string
  kind?: string
  note: ReactNode
  children: ReactNode
}) {
  return (
    <Popover width={420} position="bottom-end" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.badge} data-kind={kind} aria-label={name} title={name}>
          {children}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 20px)" aria-label={name}>
        {note}
      </Popover.Dropdown>
    </Popover>
  )
}

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

function short(now: string): string {
  return format.format(new Date(now))
}
