import type { ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { readYaml } from '../core/yaml-field.ts'
import { rulesOfEntries } from '../http/entries.ts'
import type { HttpPort } from '../http/model.ts'
import { printPorts } from '../http/print-ports.ts'
import { readTarget, type ServiceTarget } from './backends.ts'
import { statedBehavior } from '../http/stated-behavior.ts'
import { readCertificates } from './certificates.ts'
import { Variables, type ReadPlugin, type Surroundings } from './plugins/plugin.ts'
import { readPlugin } from './plugins/registry.ts'
import { entryOf, type RouteSurroundings } from './route-entries.ts'
import { readMatches } from './route-match.ts'
import { markRoute, noteUnused } from './notes.ts'
import type { Plugin } from './scopes.ts'
import type { Route, Service } from './model.ts'
import { readSource, type Source } from './source.ts'
import { readUpstreams, type Upstreams } from './upstreams.ts'
import { variablesOf } from './variables.ts'

/** Imports declarative configs of Kong and files of decK. */
export function importKong(sources: readonly SourceText[]): ImportResult {
  return problemsOf(() => importSources(sources))
}

const HTTP_PORT = 8000
const HTTPS_PORT = 8443

function importSources(sources: readonly SourceText[]): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const roots = sources.map(readYaml)
  for (const root of roots)
    if (!root.isMapping) throw new SourceError(root.at, 'found no mapping, expected _format_version and services')
  const source = readSource(roots)
  if (source.routes.length === 0)
    throw new SourceError({ file: first.name, line: 1, column: 1 }, 'found no route, expected services with routes')
  const variables = new Variables()
  const frontend: Record<string, unknown> = {}
  const surroundings: Surroundings = { consumers: source.consumers, variables, frontend }
  const used = new Set<Plugin>()
  const read = cached((plugin: Plugin): ReadPlugin => {
    used.add(plugin)
    return readPlugin(plugin, surroundings)
  })
  const upstreams = readUpstreams(roots)
  const target = targets(upstreams)
  for (const route of source.routes) {
    markRoute(route)
    if (route.service?.isEnabled === true) target(route)
  }
  const facts = { plugins: source.plugins, read, target }
  const ports = portsOf(source, facts).filter(({ rules }) => rules.length > 0)
  if (ports.length === 0)
    throw new SourceError({ file: first.name, line: 1, column: 1 }, 'found no route for HTTP that can be imported')
  noteUnused(source, used, upstreams)
  for (const name of variablesOf(ports)) variables.add(name, `${name.toLowerCase().replaceAll('_', '-')}.test`)
  const report = sortReport(
    roots.flatMap((root) => root.reportOf()),
    sources.map(({ name }) => name),
  )
  const config = {
    ...(Object.keys(frontend).length > 0 && { frontend }),
    binds: printPorts(ports),
  }
  return { config, report, behavior: statedBehavior(ports, variables.values) }
}

function cached<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key) ?? read(key)
    known.set(key, value)
    return value
  }
}

/** Returns a function that reads the target of a route's service. Each service is read once. */
function targets(upstreams: Upstreams): RouteSurroundings['target'] {
  const ofService = cached((service: Service): ServiceTarget | string => readTarget(service, upstreams))
  return ({ service }) => (service === null ? 'the route has no service' : ofService(service))
}

function portsOf(source: Source, facts: Omit<RouteSurroundings, 'isTls'>): HttpPort[] {
  const certificates = readCertificates(source)
  const port = (number: number, isTls: boolean): HttpPort => ({
    ...{ port: number, address: null, policies: {} },
    certificates: isTls ? certificates : null,
    rules: rulesOfEntries(entries(source, { ...facts, isTls })),
  })
  return [port(HTTP_PORT, false), ...(certificates.length === 0 ? [] : [port(HTTPS_PORT, true)])]
}

function entries({ routes, version }: Source, surroundings: RouteSurroundings) {
  return routes
    .filter((route) => isServed(route, surroundings.isTls))
    .flatMap((route) => readMatches(route.entity, version, surroundings.isTls).map((match) => ({ route, match })))
    .toSorted((one, other) => comparePriority(one.match.priority, other.match.priority))
    .map(({ route, match }) => entryOf(route, match, surroundings))
}

/**
 * Whether a route takes requests of a port. On a port without TLS, a route that requires TLS takes requests to redirect
 * them.
 */
function isServed({ service, entity }: Route, isTls: boolean): boolean {
  if (service !== null && !service.isEnabled) return false
  const protocols = (entity.get('protocols')?.items ?? []).flatMap(({ text }) => text ?? [])
  if (protocols.length === 0) return true
  const secure = protocols.some((each) => ['https', 'grpcs', 'wss'].includes(each))
  return isTls ? secure : secure || protocols.some((each) => ['http', 'grpc', 'ws'].includes(each))
}

function comparePriority(one: readonly number[], other: readonly number[]): number {
  for (const [at, value] of one.entries()) {
    const difference = (other[at] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}
