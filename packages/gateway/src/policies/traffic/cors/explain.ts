import { configured, type Explainer, placeIn, textIn, value, remedy } from '../../../findings/subject.ts'
import type { CorsConfig } from './schema.ts'

/** A preflight gets an answer that does not let the page go on. */
export const cors: Explainer = (subject) => {
  const { reason, held } = subject
  const config = held?.config as CorsConfig | undefined
  const lists = {
    origin: ['allowOrigins', config?.allowOrigins ?? [], 'origin'],
    method: ['allowMethods', config?.allowMethods ?? [], 'access-control-request-method'],
    headers: ['allowHeaders', config?.allowHeaders ?? [], 'access-control-request-headers'],
  } as const
  const lacks = textIn(reason, 'lacks')
  const [field, allowed, header] = lists[lacks === 'method' || lacks === 'headers' ? lacks : 'origin']
  const asked = textIn(reason, 'asked')
  const place = placeIn(subject, ...(allowed.length > 0 ? [field] : []))
  return {
    code: `cors_${lacks ?? 'origin'}`,
    headline: `the preflight was denied: \`${field}\` does not contain ${asked ?? 'the requested value'}`,
    place,
    values: [value(`request.headers.${header}`, asked), configured(subject, field, allowed)],
    wouldPass: [
      remedy('config', `\`${field}\` contains ${asked ?? 'the requested value'}`, {
        of: field,
        found: allowed,
        relation: 'contains',
        value: asked,
        place,
      }),
      ...(allowed.length === 0
        ? []
        : [
            remedy('client', `the request uses ${allowed.join(' or ')}`, {
              of: `request.headers.${header}`,
              found: asked,
              relation: 'oneOf',
              value: [...allowed],
            }),
          ]),
    ],
  }
}
