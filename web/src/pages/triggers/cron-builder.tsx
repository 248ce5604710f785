import { NativeSelect, Text } from '@mantine/core'
import { ordinal, monthNames, weekdayNames } from './cron-words'
import { firstPlan, paces, type Plan, readPlan, writeCron } from './cron-plan'
import { NumberList } from './number-list'
import classes from './triggers.module.css'

const two = (value: number) => String(value).padStart(2, '0')
const hours = Array.from({ length: 24 }, (_, value) => ({ value, label: `${two(value)} h` }))
const minutes = Array.from({ length: 60 }, (_, value) => ({ value, label: `:${two(value)}` }))
const dates = Array.from({ length: 31 }, (_, index) => ({ value: index + 1, label: ordinal(index + 1) }))
const weekdays = [1, 2, 3, 4, 5, 6, 0].map((value) => ({ value, label: weekdayNames[value]!.slice(0, 3) }))
const months = monthNames.map((name, index) => ({ value: index + 1, label: name.slice(0, 3) }))

/** The expression as plain choices. One that says more than they can is left alone until somebody chooses. */
export function CronBuilder({ cron, onChange }: { cron: string; onChange: (cron: string) => void }) {
  const read = readPlan(cron)
  const plan = read ?? firstPlan
  const set = (change: Partial<Plan>) => onChange(writeCron({ ...plan, ...change }))
  return (
    <div className={classes.form} role="group" aria-label="Build the expression">
      {!read && (
        <Text size="sm" c="dimmed">
          These choices cannot say what the expression says. Choosing here replaces it.
        </Text>
      )}
      <div className={classes.top}>
        <NativeSelect
          label="Repeat"
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
            { value: 'times', label: 'At times of the day' },
            { value: 'hours', label: 'Every few hours' },
            { value: 'minutes', label: 'Every few minutes' },
          ]}
        />
        {plan.pace === 'minutes' && (
          <>
            <NativeSelect
              label="Every"
              value={plan.every}
              onChange={(event) => set({ every: Number(event.currentTarget.value) })}
              data={paces.minutes.map((value) => ({
                value: String(value),
                label: value === 1 ? 'minute' : `${value} minutes`,
              }))}
            />
            <NativeSelect
              label="From"
              value={plan.from}
              onChange={(event) => {
                const from = Number(event.currentTarget.value)
                set({ from, to: Math.max(from, plan.to) })
              }}
              data={hours.map(({ value }) => ({ value: String(value), label: `${two(value)}:00` }))}
            />
            <NativeSelect
              label="To"
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
              label="Every"
              value={plan.every}
              onChange={(event) => set({ every: Number(event.currentTarget.value) })}
              data={paces.hours.map((value) => ({
                value: String(value),
                label: value === 1 ? 'hour' : `${value} hours`,
              }))}
            />
            <NativeSelect
              label="At minute"
              value={plan.minutes[0] ?? 0}
              onChange={(event) => set({ minutes: [Number(event.currentTarget.value)] })}
              data={minutes.map(({ value, label }) => ({ value: String(value), label }))}
            />
          </>
        )}
        {plan.pace === 'times' && (
          <>
            <NumberList label="Hours" values={plan.hours} all={hours} onChange={(next) => set({ hours: next })} />
            <NumberList
              label="Minutes"
              values={plan.minutes}
              all={minutes}
              onChange={(next) => set({ minutes: next })}
            />
          </>
        )}
      </div>
      <div className={classes.top}>
        <NativeSelect
          label="On"
          value={plan.on}
          onChange={(event) =>
            set({
              on: event.currentTarget.value as Plan['on'],
              weekdays: plan.weekdays.length < 7 ? plan.weekdays : firstPlan.weekdays,
              dates: plan.dates.length < 31 ? plan.dates : [1],
            })
          }
          data={[
            { value: 'every', label: 'Every day' },
            { value: 'weekdays', label: 'Days of the week' },
            { value: 'dates', label: 'Days of the month' },
          ]}
        />
        {plan.on === 'weekdays' && (
          <NumberList
            label="Days of the week"
            values={plan.weekdays}
            all={weekdays}
            onChange={(next) => set({ weekdays: next })}
            placeholder="Every day"
          />
        )}
        {plan.on === 'dates' && (
          <NumberList
            label="Days of the month"
            values={plan.dates}
            all={dates}
            onChange={(next) => set({ dates: next })}
            placeholder="Every day"
          />
        )}
        <NumberList
          label="Months"
          values={plan.months}
          all={months}
          onChange={(next) => set({ months: next })}
          placeholder="Every month"
        />
      </div>
    </div>
  )
}
