import { type Explainer, value } from '../findings/subject.ts'
import { cut } from '../findings/words.ts'

/** A reason that this version does not know: the record speaks for itself. */
export const unexplained: Explainer = ({ record, reason }) => ({
  headline: `${reason.policy ?? 'the gateway'} ended the request: ${cut(record.error ?? reason.code)}`,
  values: Object.entries(reason.values).map(([name, found]) => value(name, found)),
})
