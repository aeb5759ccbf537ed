import { explainRules, placesOf } from '../../../explain/rules.ts'
import type { Explainer } from '../../../explain/subject.ts'

export const networkAuthorization: Explainer = (subject) => {
  const { record, view } = subject
  const said = view.said('frontend', 'networkAuthorization', record.keys, null)
  const places = placesOf(
    view,
    said.map(({ config }) => config),
  )
  return explainRules(subject, 'network', places, 'network authorization')
}
