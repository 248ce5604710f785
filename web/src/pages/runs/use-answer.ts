import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client'
import { describeError } from '../../api/errors'
import { queryClient } from '../../api/query-client'
import { notifyDone } from '../../parts'
import type { Awaiting, Run } from './types'
import { answerText } from '../../text/runs'

/** Sends an answer to a paused run. `onStale` is called if the question is no longer open. */
export function useAnswer(run: Run, asked: Awaiting, onRecord: (run: Run) => void, onStale: () => void) {
  return useMutation({
    mutationFn: (input: unknown) =>
      api.execution.resume.mutate({
        executionId: run.id,
        nodeId: asked.nodeId,
        ...(input === undefined ? {} : { input }),
      }),
    onSuccess: (record) => {
      notifyDone(answerText.answerSubmitted)
      onRecord(record)
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
    },
    onError: (error) => {
      if (describeError(error).code === 'CONFLICT') onStale()
    },
  })
}

/** The result of useAnswer. */
export type Answering = ReturnType<typeof useAnswer>
