import { configured, type Explainer, placeIn, textIn, value, remedy } from '../../../findings/subject.ts'
import type { CsrfConfig } from './schema.ts'

export const csrf: Explainer = (subject) => {
  const { reason, record, held } = subject
  const origin = textIn(reason, 'origin')
  const site = textIn(reason, 'site')
  const values = [value('request.headers.origin', origin), value('request.headers.sec-fetch-site', site)]
  if (reason.code === 'contradictory') {
    return {
      code: 'csrf_contradictory',
      headline: 'a browser sends `origin` and `sec-fetch-site` once, and this request has one of them twice',
      place: placeIn(subject),
      values,
      wouldPass: [remedy('client', 'the client sends each of these headers once')],
    }
  }
  const config: CsrfConfig | undefined = held?.config
  const others = config?.additionalOrigins ?? []
  const own = `${record.scheme}://${record.host ?? ''}`
  return {
    code: 'csrf_cross_origin',
    headline: `a page of another site sent the request: ${origin ?? `sec-fetch-site is ${site ?? ''}`}`,
    place: placeIn(subject),
    values: [...values, value('own origin', own), configured(subject, 'additionalOrigins', others)],
    wouldPass: [
      remedy('client', `a page of ${[own, ...others].join(' or ')} sends the request`, {
        of: 'request.headers.origin',
        found: origin,
        relation: 'oneOf',
        value: [own, ...others],
      }),
      ...(origin === null
        ? []
        : [
            remedy('config', `\`additionalOrigins\` contains ${origin}`, {
              of: 'additionalOrigins',
              found: others,
              relation: 'contains',
              value: origin,
              place: placeIn(subject, ...(others.length > 0 ? ['additionalOrigins'] : [])),
            }),
          ]),
    ],
  }
}
