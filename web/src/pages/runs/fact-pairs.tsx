import type { ReactNode } from 'react'

type Props = {
  /** A pair whose value is false is omitted. */
  pairs: [name: string, value: ReactNode][]
  className?: string | undefined
}

/** Facts beside one another, each with its name above it. */
export function FactPairs({ pairs, className }: Props) {
  return (
    <dl className={className}>
      {pairs.map(
        ([name, value]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
