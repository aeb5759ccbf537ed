import { hostPortOf } from '../http/addresses.ts'
import type { Directive } from './directive.ts'

/** A server of an upstream, as a backend. */
export interface UpstreamServer {
  readonly host: string
  readonly weight?: number
}

export type Upstreams = ReadonlyMap<
  string,
  { readonly servers: readonly UpstreamServer[]; readonly directive: Directive }
>

/** Reads the `upstream` blocks by name. An upstream without usable servers has an empty list. */
export function readUpstreams(directives: readonly Directive[]): Upstreams {
  const found = new Map<string, { servers: UpstreamServer[]; directive: Directive }>()
  for (const directive of directives) {
    const [name] = directive.args
    if (directive.name !== 'upstream' || name === undefined || directive.block === null) continue
    const servers = directive.block.flatMap((each) => readServer(each) ?? [])
    noteOthers(directive.block)
    if (servers.length > 1)
      directive.changed('the gateway does not repeat a request at another server when a server fails')
    else directive.carried()
    found.set(name, { servers, directive })
  }
  return found
}

function readServer(directive: Directive): UpstreamServer | null {
  if (directive.name !== 'server') return null
  const [address = '', ...options] = directive.args
  const host = hostPortOf(address, 80)
  if (host === null) {
    directive.notCarried('the address is not a host with a port')
    return null
  }
  const names = new Map(options.map((option) => option.split('=', 2) as [string, string | undefined]))
  const weight = Number(names.get('weight') ?? 1)
  if (names.has('down')) {
    directive.carried('the server is down, so it gets no requests')
    return null
  }
  if (names.has('backup')) {
    directive.notCarried('the backup server gets no requests: the gateway does not order backends')
    return null
  }
  const others = [...names.keys()].filter((name) => name !== 'weight')
  if (others.length > 0)
    directive.changed(`the importer ignores ${others.join(', ')}; a health policy evicts failing servers`)
  else directive.carried()
  return weight === 1 || !Number.isInteger(weight) ? { host } : { host, weight }
}

function noteOthers(block: readonly Directive[]): void {
  for (const directive of block) {
    if (directive.name.startsWith('keepalive')) directive.carried('the gateway always keeps connections open')
    if (['least_conn', 'ip_hash', 'hash', 'random'].includes(directive.name)) {
      directive.changed(
        'the gateway chooses servers at random, by weight; a sessionPersistence policy keeps a client at one server',
      )
    }
  }
}
