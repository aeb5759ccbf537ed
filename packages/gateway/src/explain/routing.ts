import { candidatesOf } from '../pipeline/route/candidate.ts'
import { normalizeHost } from '../pipeline/route/hostname.ts'
import { nearestRejections } from '../pipeline/route/lacks.ts'
import type { RoutableRequest } from '../pipeline/route/request.ts'
import { finalHeaders } from '../pipeline/views/record-scope.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { Candidate, Passing } from '../findings/explanation.ts'
import { numberIn, value, remedy } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'

/** How many of the nearest are shown. */
const MOST = 5

export const noRoute: ConfigExplainer = (subject) => {
  const { record, view } = subject
  const routes = view.ir.routes.filter(({ listener }) => listener === record.keys.listener)
  const nearest = nearestRejections(
    routes
      .flatMap((route) => candidatesOf(route, route, { order: 0 }))
      .map(({ hostnames, candidate }) => ({ hostnames, candidate })),
    routable(record),
  ).slice(0, MOST)
  const candidates = nearest.map(({ route, match, lacks }): Candidate => {
    const found = view.route(route)
    return { route: found?.name ?? route, match, lacks, place: view.locate(found) }
  })
  const count = routes.length === 1 ? 'the only route does not match' : `none of ${routes.length} routes matches`
  return {
    headline: `no route of listener ${record.listener ?? ''} matches: ${view.isKnown ? count : 'none matched'} ${record.method ?? ''} ${record.path ?? ''}`,
    place: view.locate(view.listener(record.keys.listener)),
    values: requestValues(record),
    candidates,
    wouldPass: candidates.map(asWay),
    ...(record.requestHeaders === null && {
      remarks: ['the headers of this request were not recorded, so header matches count as not met'],
    }),
  }
}

function asWay({ route, lacks, place }: Candidate): Passing {
  return remedy('client', `route ${route} would match with ${lacks.join(' and ')}`, { place })
}

export const noListener: ConfigExplainer = ({ record, view }) => {
  const names = view.ir.listeners.map(({ hostname }) => hostname).filter((name) => name !== '')
  const listeners = [...new Set(names)].slice(0, MOST)
  return {
    headline: `no listener on this port has the host ${record.host ?? ''}`,
    values: [value('request.host', record.host), value('tls.sni', record.sni)],
    candidates: view.ir.listeners
      .filter(({ hostname }) => hostname !== '')
      .slice(0, MOST)
      .map((listener) => ({
        route: listener.name,
        match: 0,
        lacks: [`hostname ${listener.hostname}`],
        place: view.locate(listener),
      })),
    wouldPass: listeners.map((name) =>
      remedy('client', `the host is ${name}`, {
        of: 'request.host',
        found: record.host,
        relation: 'equals',
        value: name,
      }),
    ),
  }
}

export const misdirected: ConfigExplainer = ({ record, view }) => ({
  headline: `the host ${record.host ?? ''} belongs to another listener than the server name ${record.sni ?? 'of the TLS connection'}`,
  values: [value('request.host', record.host), value('tls.sni', record.sni)],
  place: view.locate(view.listener(record.keys.listener)),
  wouldPass: [
    remedy('client', 'the client connects with the server name (SNI) of the requested host', {
      of: 'tls.sni',
      found: record.sni,
      relation: 'equals',
      value: record.host,
    }),
  ],
})

export const loopDetected: ConfigExplainer = (subject) => {
  const passes = numberIn(subject.reason, 'passes')
  const hops = numberIn(subject.reason, 'hops')
  return {
    headline: `the request is in a loop: it has passed this gateway ${passes ?? 0} times, and ${hops ?? 0} gateways in all`,
    values: [...requestValues(subject.record), value('passes', passes), value('hops', hops)],
    wouldPass: [
      remedy('config', 'no backend on the path of the request leads back to this gateway'),
      remedy('client', 'the host that the request names is not an address of this gateway', {
        of: 'request.host',
        found: subject.record.host,
      }),
    ],
  }
}

export const methodNotAllowed: ConfigExplainer = (subject) => ({
  headline: 'CONNECT is not allowed here',
  values: requestValues(subject.record),
  place: routePlace(subject),
  wouldPass: [
    remedy('client', 'the client uses another method'),
    remedy('config', 'the route has `upgrades` with `connect`', { place: routePlace(subject) }),
  ],
})

export const upgradeNotAllowed: ConfigExplainer = (subject) => {
  const { record, view } = subject
  const offered = record.requestHeaders?.['upgrade']
  const upgrades = view.held('traffic', 'upgrades', record.keys, 'route')
  const place = upgrades === null ? routePlace(subject) : view.locate(upgrades.config)
  return {
    headline: `the route does not allow clients to switch protocols${typeof offered === 'string' ? ` to ${offered}` : ''}`,
    values: [value('request.headers.upgrade', offered)],
    place,
    wouldPass: [
      remedy('client', 'the client sends no `upgrade` header', { of: 'request.headers.upgrade', relation: 'absent' }),
      remedy('config', '`upgrades` of the route lists the protocol', { place }),
    ],
  }
}

export function routePlace({ record, view }: ConfigSubject) {
  return view.locate(view.route(record.keys.route))
}

function requestValues({ method, host, path }: RequestRecord) {
  return [value('request.method', method), value('request.host', host), value('request.path', path)]
}

function routable(record: RequestRecord): RoutableRequest {
  const target = record.path ?? ''
  const mark = target.indexOf('?')
  const { host, method, scheme } = record
  const headers = finalHeaders(record)
  return {
    method: method ?? '',
    host: normalizeHost(host ?? ''),
    authority: host ?? '',
    scheme,
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    header(name, occurrence) {
      const found = headers?.[name]
      if (found === undefined) return undefined
      return typeof found === 'string' ? (occurrence === 0 ? found : undefined) : found[occurrence]
    },
  }
}
