import type { CorsConfig } from '../policies/traffic/cors/schema.ts'
import type { CsrfConfig } from '../policies/traffic/csrf/schema.ts'
import { configured, type Explainer, placeIn, textIn, value, way } from './subject.ts'

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
      wouldPass: [way('client', 'each of these headers is sent once')],
    }
  }
  const config: CsrfConfig | undefined = held?.config
  const others = config?.additionalOrigins ?? []
  const own = `${record.scheme}://${record.host ?? ''}`
  return {
    code: 'csrf_cross_origin',
    headline: `a page of another site made a browser send it: ${origin ?? `sec-fetch-site is ${site ?? ''}`}`,
    place: placeIn(subject),
    values: [...values, value('own origin', own), configured(subject, 'additionalOrigins', others)],
    wouldPass: [
      way('client', `a page of ${[own, ...others].join(' or ')} sends it`, {
        of: 'request.headers.origin',
        found: origin,
        relation: 'oneOf',
        value: [own, ...others],
      }),
      ...(origin === null
        ? []
        : [
            way('config', `\`additionalOrigins\` has ${origin}`, {
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
    headline: `the preflight was answered without leave: \`${field}\` does not have ${asked ?? 'what it asks for'}`,
    place,
    values: [value(`request.headers.${header}`, asked), configured(subject, field, allowed)],
    wouldPass: [
      way('config', `\`${field}\` has ${asked ?? 'it'}`, {
        of: field,
        found: allowed,
        relation: 'contains',
        value: asked,
        place,
      }),
      ...(allowed.length === 0
        ? []
        : [
            way('client', `the page asks for ${allowed.join(' or ')}`, {
              of: `request.headers.${header}`,
              found: asked,
              relation: 'oneOf',
              value: [...allowed],
            }),
          ]),
    ],
  }
}
