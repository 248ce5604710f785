import { Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useUrlState } from '../../parts'
import { later } from '../../parts/later'
import classes from './run-page.module.css'
import type { Run } from './types'
import type { RunFacts } from './use-run-facts'
import { trafficText } from '../../text/runs'

const TrafficList = later(async () => ({ default: (await import('./run-more')).TrafficList })).Component

/** The traffic between the run and other services. It may be large, so it is fetched when scrolled near. */
export function Traffic({ run, facts }: { run: Run; facts: RunFacts }) {
  const [step] = useUrlState('traffic')
  const place = useRef<HTMLElement>(null)
  const [near, setNear] = useState(false)
  useEffect(() => {
    if (near || !place.current) return
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setNear(true)
      },
      { rootMargin: '150px' },
    )
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [near])
  // A link to the traffic of one step moves the focus here.
  useEffect(() => {
    if (step) place.current?.querySelector<HTMLElement>('h2')?.focus()
  }, [step])
  return (
    <section className={classes.section} aria-labelledby="traffic" ref={place}>
      <div className={classes.sectionHead}>
        <Title order={2} id="traffic" tabIndex={-1} className={classes.panelTitle}>
          {trafficText.traffic}
        </Title>
      </div>
      <div className={classes.traffic}>{(near || step) && <TrafficList run={run} facts={facts} />}</div>
    </section>
  )
}
