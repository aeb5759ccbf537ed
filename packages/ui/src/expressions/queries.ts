import type { Evaluation, EvaluationQuestion, ExpressionPlaces } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, getJson } from '../api/client.ts'
import { listRequests } from '../api/queries.ts'

export const placesQuery = queryOptions({
  queryKey: ['expressions'],
  queryFn: ({ signal }) => getJson<ExpressionPlaces>('/api/expressions', signal),
  staleTime: Infinity,
})

/** A few to pick from. */
export const latestQuery = queryOptions({
  queryKey: ['latest'],
  queryFn: ({ signal }) => listRequests(new URLSearchParams({ limit: '8' }), signal),
  refetchInterval: 5000,
})

/** Null while there is nothing to ask. What was found last stays until the next answer. */
export const evaluationQuery = (question: EvaluationQuestion | null) =>
  queryOptions({
    queryKey: ['evaluation', question],
    queryFn: async ({ signal }) => {
      const answer = await call('/api/expressions/evaluate', { method: 'POST', body: question, signal })
      // Places in it are those of the expression that was asked for.
      return { evaluation: (await answer.json()) as Evaluation, expression: question?.expression ?? '' }
    },
    enabled: question !== null,
    placeholderData: keepPreviousData,
    // Records do not change, and neither does what was written.
    staleTime: Infinity,
    retry: false,
  })
