import type { Evaluation, EvaluationQuestion, ExpressionAttachments } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, getJson } from '../api/client.ts'
import { listRequests } from '../api/queries.ts'

export const placesQuery = queryOptions({
  queryKey: ['expressions'],
  queryFn: ({ signal }) => getJson<ExpressionAttachments>('/api/expressions', signal),
  staleTime: Infinity,
})

/** A few recent requests to choose from. */
export const latestQuery = queryOptions({
  queryKey: ['latest'],
  queryFn: ({ signal }) => listRequests(new URLSearchParams({ limit: '8' }), signal),
  refetchInterval: 5000,
})

/** The evaluation of a question; disabled while it is null. The last evaluation stays until the next arrives. */
export const evaluationQuery = (question: EvaluationQuestion | null) =>
  queryOptions({
    queryKey: ['evaluation', question],
    queryFn: async ({ signal }) => {
      const answer = await call('/api/expressions/evaluate', { method: 'POST', body: question, signal })
      // Locations in the evaluation are those of this expression.
      return { evaluation: (await answer.json()) as Evaluation, expression: question?.expression ?? '' }
    },
    enabled: question !== null,
    placeholderData: keepPreviousData,
    // The same question always has the same result.
    staleTime: Infinity,
    retry: false,
  })
