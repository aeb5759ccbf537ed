import type { Fields } from './fields.ts'
import { type ObjectReference, readReference } from './references.ts'
import { type LabelSelector, readLabelSelector } from './label-selector.ts'

/** A listener of a Gateway or a ListenerSet, as written. */
export interface ListenerSpec {
  name: string
  /** The hostname in lower case; empty for every host. */
  hostname: string
  port: number
  /** The protocol, not validated. */
  protocol: string
  tls: { mode: 'Terminate' | 'Passthrough'; isModeSet: boolean; certificates: ObjectReference[] } | null
  /** Namespaces whose routes may attach. */
  from: 'All' | 'Same' | 'None' | LabelSelector
  /** Allowed kinds of routes; null when the protocol decides. */
  kinds: { group: string; kind: string }[] | null
  /** Filters that run before routing, not validated; undefined when there are none. */
  filters: unknown
}

export function readListeners(spec: Fields, namespace: string): ListenerSpec[] {
  return spec.objects('listeners').flatMap((fields) => {
    const name = fields.text('name')
    const protocol = fields.text('protocol')
    const given = fields.integer('port', { max: 65_535 })
    const port = given === undefined || given === 0 ? standardPort(protocol) : given
    const hostname = (fields.text('hostname') ?? '').toLowerCase()
    const tls = readTls(fields, namespace)
    const allowed = fields.object('allowedRoutes')
    const [from, kinds] = [readNamespaces(allowed), readKinds(allowed)]
    allowed.done()
    const filters = fields.raw('filters')
    fields.done()
    if (name === undefined) return fields.report('name', 'is missing') ?? []
    if (protocol === undefined) return fields.report('protocol', 'is missing') ?? []
    return [{ name, hostname, port: port ?? 0, protocol, tls, from, kinds, filters }]
  })
}

/** Reads allowed namespaces of routes or of ListenerSets. */
export function readNamespaces(allowed: Fields, otherwise: 'Same' | 'None' = 'Same'): ListenerSpec['from'] {
  const namespaces = allowed.object('namespaces')
  const from = namespaces.choice('from', ['All', 'Same', 'Selector', 'None']) ?? otherwise
  const selector = readLabelSelector(namespaces.object('selector'))
  namespaces.done()
  return from === 'Selector' ? selector : from
}

function readTls(listener: Fields, namespace: string): ListenerSpec['tls'] {
  if (!listener.has('tls')) return null
  const tls = listener.object('tls')
  const mode = tls.choice('mode', ['Terminate', 'Passthrough'])
  const certificates = tls.objects('certificateRefs').flatMap((fields) => {
    const reference = readReference(fields, { group: '', kind: 'Secret', namespace })
    fields.done()
    return reference ?? []
  })
  tls.done()
  return { mode: mode ?? 'Terminate', isModeSet: mode !== undefined, certificates }
}

function readKinds(allowed: Fields): ListenerSpec['kinds'] {
  if (!allowed.has('kinds')) return null
  return allowed.objects('kinds').map((fields) => {
    const found = { group: fields.text('group') ?? 'gateway.networking.k8s.io', kind: fields.text('kind') ?? '' }
    fields.done()
    return found
  })
}

/** The default port, because a ListenerSet may omit it. */
function standardPort(protocol: string | undefined): number | undefined {
  if (protocol === 'HTTP') return 80
  return protocol === 'HTTPS' ? 443 : undefined
}
