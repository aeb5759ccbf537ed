import type { QuestionSource } from '../../admin/questions-api.ts'
import type { Ir } from '../../ir/resources.ts'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'

interface QuestionParts {
  live: () => { ir: Ir; generation: number; ports: Readonly<Record<string, number>> }
  record: (id: string) => RequestRecord | null
  identity: ProxyIdentity
}

/** `createQuestionSource` loads the code that answers at the first question. */
export function createQuestionSource({ live, record, identity }: QuestionParts): QuestionSource {
  return {
    places: async () => (await import('../../explain/expression-attachments.ts')).expressionPlaces(),
    async evaluate({ expression, phase = 'log', requestId, variables }) {
      const [{ evaluate }, { expressionPlaces, isPhase }, { givenScope }, { variablesByPhase }] = await Promise.all([
        import('../../explain/evaluate.ts'),
        import('../../explain/expression-attachments.ts'),
        import('../../explain/given-scope.ts'),
        import('../../expressions/variables.ts'),
      ])
      if (!isPhase(phase)) {
        const known = expressionPlaces().places.map((place) => place.phase)
        return `phase: found ${JSON.stringify(phase)}, expected one of ${known.join(', ')}`
      }
      if (requestId !== undefined) {
        const found = record(requestId)
        return found === null
          ? `requestId: no record ${JSON.stringify(requestId)}`
          : evaluate(expression, phase, { record: found, identity })
      }
      const given = givenScope(variables ?? {}, variablesByPhase[phase])
      return 'problem' in given ? given.problem : evaluate(expression, phase, given)
    },
    match: async (question) => (await import('../../explain/match-route.ts')).matchRoute(question, live()),
  }
}
