import { explainRules, placesOf } from '../../../findings/rules.ts'
import type { Explainer } from '../../../findings/subject.ts'

export const authorization: Explainer = (subject) => {
  const { record, reason, view } = subject
  const said = view.said('traffic', 'authorization', record.keys, reason.phase)
  return explainRules(
    subject,
    'request',
    placesOf(
      view,
      said.map(({ config }) => config),
    ),
    'authorization',
  )
}
