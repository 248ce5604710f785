// A program that uses the service: it runs blueprints and retries when the server is busy.
import { isRefusal, type Client, type Outputs } from 'blueprintd'

export type Result = Outputs['execution']['getExecutionStatus']

/** Calls, and retries while the server is too busy. */
export async function patiently<T>(call: () => Promise<T>, pauseMs = 20, attempts = 8): Promise<T> {
  for (let left = attempts; ; left--) {
    try {
      return await call()
    } catch (error) {
      const busy = isRefusal(error) && (error.data?.httpStatus === 429 || error.data?.httpStatus === 503)
      if (!busy || left === 1) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** Creates a blueprint, starts it, and polls until the run has ended. */
export async function runFlow(client: Client, title: string, nodes: unknown[]): Promise<Result> {
  const { id } = await patiently(() => client.blueprint.create.mutate({ title, blueprint_map: { nodes } }))
  const { executionId } = await patiently(() => client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: id } }))
  for (;;) {
    const result = await patiently(() => client.execution.getExecutionStatus.query({ executionId }))
    if (result.status !== 'running') return result
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
