import { NativeSelect, Text } from '@mantine/core'
import { ordinal, monthNames, weekdayNames } from './cron-words'
import { firstPlan, paces, type Plan, readPlan, writeCron } from './cron-plan'
import { NumberList } from './number-list'
import classes from './triggers.module.css'
import { cronBuilderText } from '../../text/triggers'

const two = (value: number) => String(value).padStart(2, '0')
const hours = Array.from({ length: 24 }, (_, value) => ({ value, label: cronBuilderText.hour(two(value)) }))
const minutes = Array.from({ length: 60 }, (_, value) => ({ value, label: `:${two(value)}` }))
const dates = Array.from({ length: 31 }, (_, index) => ({ value: index + 1, label: ordinal(index + 1) }))
const weekdays = [1, 2, 3, 4, 5, 6, 0].map((value) => ({ value, label: weekdayNames[value]!.slice(0, 3) }))
const months = monthNames.map((name, index) => ({ value: index + 1, label: name.slice(0, 3) }))

/** Edits an expression with simple choices. An expression beyond them is kept until the user makes a choice. */
export function CronBuilder({ cron, onChange }: { cron: string; onChange: (cron: string) => void }) {
  const read = readPlan(cron)
  const plan = read ?? firstPlan
  const set = (change: Partial<Plan>) => onChange(writeCron({ ...plan, ...change }))
  return (
    <div className={classes.form} role="group" aria-label={cronBuilderText.expressionBuilder}>
      {!read && (
        <Text size="sm" c="dimmed">
          {cronBuilderText.theBuilderCannotShowThis}
        </Text>
      )}
      <div className={classes.top}>
        <NativeSelect
          label={cronBuilderText.frequency}
          value={plan.pace}
          onChange={(event) => {
            const pace = event.currentTarget.value as Plan['pace']
            set({
              pace,
              every: pace === 'hours' ? 1 : 15,
              from: 0,
              to: 23,
              minutes: pace === 'hours' ? [plan.minutes[0] ?? 0] : plan.minutes,
            })
          }}
          data={[
            { value: 'times', label: cronBuilderText.atSpecificTimes },
            { value: 'hours', label: cronBuilderText.everyFewHours },
            { value: 'minutes', label: cronBuilderText.everyFewMinutes },
          ]}
        />
        {plan.pace === 'minutes' && (
          <>
            <NativeSelect
              label={cronBuilderText.interval}
              value={plan.every}
              onChange={(event) => set({ every: Number(event.currentTarget.value) })}
              data={paces.minutes.map((value) => ({
                value: String(value),
                label: cronBuilderText.minutes(value),
              }))}
            />
            <NativeSelect
              label={cronBuilderText.from}
              value={plan.from}
              onChange={(event) => {
                const from = Number(event.currentTarget.value)
                set({ from, to: Math.max(from, plan.to) })
              }}
              data={hours.map(({ value }) => ({ value: String(value), label: `${two(value)}:00` }))}
            />
            <NativeSelect
              label={cronBuilderText.to}
              value={plan.to}
              onChange={(event) => set({ to: Number(event.currentTarget.value) })}
              data={hours
                .filter(({ value }) => value >= plan.from)
                .map(({ value }) => ({ value: String(value), label: `${two(value)}:59` }))}
            />
          </>
        )}
        {plan.pace === 'hours' && (
          <>
            <NativeSelect
              label={cronBuilderText.interval}
              value={plan.every}
              onChange={(event) => set({ every: Number(event.currentTarget.value) })}
              data={paces.hours.map((value) => ({
                value: String(value),
                label: cronBuilderText.hours(value),
              }))}
            />
            <NativeSelect
              label={cronBuilderText.minute}
              value={plan.minutes[0] ?? 0}
              onChange={(event) => set({ minutes: [Number(event.currentTarget.value)] })}
              data={minutes.map(({ value, label }) => ({ value: String(value), label }))}
            />
          </>
        )}
        {plan.pace === 'times' && (
          <>
            <NumberList
              label={cronBuilderText.hours2}
              values={plan.hours}
              all={hours}
              onChange={(next) => set({ hours: next })}
            />
            <NumberList
              label={cronBuilderText.minutes2}
              values={plan.minutes}
              all={minutes}
              onChange={(next) => set({ minutes: next })}
            />
          </>
        )}
      </div>
      <div className={classes.top}>
        <NativeSelect
          label={cronBuilderText.days}
          value={plan.on}
          onChange={(event) =>
            set({
              on: event.currentTarget.value as Plan['on'],
              weekdays: plan.weekdays.length < 7 ? plan.weekdays : firstPlan.weekdays,
              dates: plan.dates.length < 31 ? plan.dates : [1],
            })
          }
          data={[
            { value: 'every', label: cronBuilderText.everyDay },
            { value: 'weekdays', label: cronBuilderText.daysOfTheWeek },
            { value: 'dates', label: cronBuilderText.daysOfTheMonth },
          ]}
        />
        {plan.on === 'weekdays' && (
          <NumberList
            label={cronBuilderText.daysOfTheWeek}
            values={plan.weekdays}
            all={weekdays}
            onChange={(next) => set({ weekdays: next })}
            placeholder={cronBuilderText.everyDay}
          />
        )}
        {plan.on === 'dates' && (
          <NumberList
            label={cronBuilderText.daysOfTheMonth}
            values={plan.dates}
            all={dates}
            onChange={(next) => set({ dates: next })}
            placeholder={cronBuilderText.everyDay}
          />
        )}
        <NumberList
          label={cronBuilderText.months}
          values={plan.months}
          all={months}
          onChange={(next) => set({ months: next })}
          placeholder={cronBuilderText.everyMonth}
        />
      </div>
    </div>
  )
}
