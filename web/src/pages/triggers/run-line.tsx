import { useElementSize } from '@mantine/hooks'
import classes from './pictures.module.css'
import { localZone } from './zone'
import { dayAndTime, dayOf, labelled, timeOf } from './line-labels'
import { runLineText } from '../../text/triggers'

/** Runs on a line: above in the trigger's time zone, below in local time. */
export function RunLine({ ticks, zone }: { ticks: number[]; zone: string }) {
  const { ref, width } = useElementSize()
  const here = localZone()
  const both = here !== zone
  const [first, last] = [ticks[0]!, ticks.at(-1)!]
  const w = Math.max(width, 260)
  const x = (at: number) => 40 + (last > first ? (at - first) / (last - first) : 0) * (w - 80)
  const places = ticks.map(x)
  const shown = labelled(places, 88)
  const height = both ? 118 : 76
  return (
    <div ref={ref} className={classes.frame}>
      <svg
        width={w}
        height={height}
        viewBox={`0 0 ${w} ${height}`}
        role="img"
        aria-label={runLineText.nextRunsFromTo(ticks.length, dayAndTime(first, zone), dayAndTime(last, zone), zone)}
      >
        <text x={0} y={11} className={classes.place}>
          {zone}
        </text>
        <line x1={4} x2={w - 4} y1={62} y2={62} className={classes.axis} />
        {ticks.map((at, index) => {
          const changed = index === 0 || dayOf(at, zone) !== dayOf(ticks[index - 1]!, zone)
          return (
            <g key={at}>
              <circle cx={places[index]} cy={62} r={5} className={classes.tick}>
                <title>{dayAndTime(at, zone)}</title>
              </circle>
              {shown[index] && (
                <>
                  <text x={places[index]} y={34} className={changed ? classes.day : classes.faint} textAnchor="middle">
                    {dayOf(at, zone)}
                  </text>
                  <text x={places[index]} y={50} className={classes.time} textAnchor="middle">
                    {timeOf(at, zone)}
                  </text>
                  {both && (
                    <text x={places[index]} y={84} className={classes.faint} textAnchor="middle">
                      {timeOf(at, here)}
                    </text>
                  )}
                  {both && dayOf(at, here) !== dayOf(at, zone) && (
                    <text x={places[index]} y={98} className={classes.faint} textAnchor="middle">
                      {dayOf(at, here)}
                    </text>
                  )}
                </>
              )}
            </g>
          )
        })}
        {both && (
          <text x={0} y={115} className={classes.place}>
            {runLineText.localTime(here)}
          </text>
        )}
      </svg>
    </div>
  )
}
