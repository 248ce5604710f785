import { type ComponentType, useEffect, useState } from 'react'

/**
 * A component whose code is loaded when it is first shown, or earlier by {@link load}; until then `WhileLoading` is shown.
 * A failure to load is thrown to the error boundary. React's lazy would do, but after each fallback of Suspense
 * React waits 300 ms before it shows what has loaded.
 */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  WhileLoading: ComponentType<Props> = () => null,
): { Component: ComponentType<Props>; load: () => Promise<void> } {
  let Loaded: ComponentType<Props> | undefined
  const loadOnce = async () => {
    Loaded ??= (await load()).default
  }

  function Component(props: Props) {
    const [{ failed }, setState] = useState<{ failed?: unknown }>({})
    const loading = !Loaded
    useEffect(() => {
      if (loading)
        loadOnce().then(
          () => setState({}),
          (failed: unknown) => setState({ failed }),
        )
    }, [loading])
    if (failed) throw failed
    return Loaded ? <Loaded {...props} /> : <WhileLoading {...props} />
  }
  return { Component, load: loadOnce }
}
