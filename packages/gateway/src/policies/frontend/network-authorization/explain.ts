import { explainRules, placesOf } from '../../../findings/rules.ts'
import type { Explainer } from '../../../findings/subject.ts'

export const networkAuthorization: Explainer = (subject) => {
  const { record, view } = subject
  const said = view.said('frontend', 'networkAuthorization', record.keys, null)
  const places = placesOf(
    view,
    said.map(({ config }) => config),
  )
  return explainRules(subject, 'network', places, 'network authorization')
}
