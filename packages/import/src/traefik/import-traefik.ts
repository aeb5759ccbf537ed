import { statusReply } from '../chain/replies.ts'
import { FIRST_STATE } from '../chain/state.ts'
import type { ImportedConfig, ImportResult } from '../core/import-result.ts'
import { refuseAll, sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { SecretVariables } from '../core/secret-variables.ts'
import { type Field, readYaml } from '../core/yaml-field.ts'
import { behaviorOf } from '../http/behavior.ts'
import { type Entry, rulesOfEntries } from '../http/entries.ts'
import { joinPorts } from '../http/join-ports.ts'
import type { Certificate, HttpPort } from '../http/model.ts'
import { printPorts } from '../http/print-ports.ts'
import { type EntryPoint, readEntryPoints, standardEntryPoint } from './entry-points.ts'
import type { Middlewares } from './middlewares.ts'
import { directiveOf, textsOf } from '../chain/field-directive.ts'
import { entriesOfRouter, readRouters, type Router } from './routers.ts'
import { readServices, type Services } from './services.ts'

/** Imports Traefik files in YAML: the dynamic configuration, and the static configuration with its entry points. */
export function importTraefik(sources: readonly SourceText[]): ImportResult {
  return problemsOf(() => importSources(sources))
}

function importSources(sources: readonly SourceText[]): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const roots = sources.map(readYaml)
  for (const root of roots)
    if (!root.isMapping) throw new SourceError(root.at, 'found no mapping, expected http with routers and services')
  const routers = readRouters(roots)
  const points = pointsOf(roots, routers)
  const middlewares: Middlewares = new Map(roots.flatMap((root) => root.get('http')?.get('middlewares')?.members ?? []))
  const services = readServices(roots)
  const secrets = new SecretVariables()
  for (const root of roots) noteSections(root)
  const certificate = readCertificate(roots)
  const ports = joinPorts(
    points.map((point) => ({
      port: portOf(point, { points, routers, middlewares, services, secrets, certificate }),
      owner: point.name,
      lost: (other: string) =>
        routers[0]?.field.notCarried(`the entry point ${other} already has port ${point.port}`, true),
    })),
  ).filter(({ rules }) => rules.length > 0)
  if (ports.length === 0) {
    refuseAll(first, {
      what: 'router',
      expected: 'http.routers and their entry points',
      entries: routers.flatMap(({ field }) => field.reportOf()),
    })
  }
  for (const section of ['middlewares', 'services']) {
    const members = roots.flatMap((root) => root.get('http')?.get(section)?.members ?? [])
    for (const [, field] of members) field.noteUnread('no router that is imported uses it')
  }
  const report = sortReport(
    roots.flatMap((root) => root.reportOf()),
    sources.map(({ name }) => name),
  )
  return { config: { binds: printPorts(ports) }, report, behavior: behaviorOf(ports, secrets.examples) }
}

/** Returns the entry points that the files define. Without such, returns the default entry points that routers name. */
function pointsOf(roots: readonly Field[], routers: readonly Router[]): EntryPoint[] {
  const defined = readEntryPoints(roots)
  if (defined.length > 0) {
    for (const { field, entryPoints } of routers) {
      const lost = entryPoints.filter((name) => !defined.some((point) => point.name === name))
      if (lost.length > 0)
        field.get('entryPoints')?.notCarried(`no file has the entry point ${lost.join(', ').slice(0, 60)}`, true)
    }
    return defined
  }
  const found = new Map<string, EntryPoint>()
  for (const { field, entryPoints, hasTls } of routers) {
    const names = entryPoints.length > 0 ? entryPoints : [hasTls ? 'websecure' : 'web']
    for (const name of names) {
      const point = standardEntryPoint(name)
      const place = field.get('entryPoints') ?? field.get('rule')
      if (point === null) place?.notCarried(`add the file with the entry point ${name.slice(0, 40)}`, true)
      else {
        place?.changed(`the importer assumes port ${point.port}; add the file with entryPoints`)
        found.set(name, point)
      }
    }
  }
  return [...found.values()]
}

interface Surroundings {
  readonly points: readonly EntryPoint[]
  readonly routers: readonly Router[]
  readonly middlewares: Middlewares
  readonly services: Services
  readonly secrets: SecretVariables
  readonly certificate: Omit<Certificate, 'hostname'>
}

function portOf(
  point: EntryPoint,
  { points, routers, middlewares, services, secrets, certificate }: Surroundings,
): HttpPort {
  const { name, port, address, redirect } = point
  const own = routers.filter(({ entryPoints }) => entryPoints.length === 0 || entryPoints.includes(name))
  const isTls =
    point.hasTls || own.some(({ hasTls, entryPoints }) => hasTls && (entryPoints.length > 0 || port === 443))
  const used = own.filter(({ hasTls, field, entryPoints }) => {
    const fits = isTls === (hasTls || point.hasTls)
    if (!fits && entryPoints.length > 0)
      field
        .get('entryPoints')
        ?.changed(`the router is left out on ${name}, because a port has either TLS or plain text`, true)
    return fits
  })
  const facts = { isTls, secret: (field: Field, header: string) => secrets.nameOf(field, header) }
  const entries = used.flatMap((router) =>
    entriesOfRouter(router, { middlewares, services, facts, first: point.middlewares }),
  )
  const target = points.find((each) => each.name === redirect?.to)
  const targetPort = target?.port ?? Number(/^:?(\d{1,5})$/.exec(redirect?.to ?? '')?.[1] ?? 443)
  const all: Entry[] = redirect === null ? entries : [redirectEntry(redirect, targetPort)]
  return {
    ...{ port, address, policies: {}, rules: rulesOfEntries(all) },
    certificates: isTls ? [{ hostname: null, ...certificate }] : null,
  }
}

function redirectEntry({ status, at }: NonNullable<EntryPoint['redirect']>, port: number): Entry {
  const authority = port === 443 ? {} : { authority: { port } }
  const reply = statusReply(directiveOf(at, 'redirection'), status, FIRST_STATE)
  return {
    condition: { kind: 'always', value: true },
    action: { ...reply, policies: { requestRedirect: { scheme: 'https', ...authority, status } } },
    refused: () => null,
  }
}

function readCertificate(roots: readonly Field[]): Omit<Certificate, 'hostname'> {
  const lists = roots.flatMap((root) => root.get('tls')?.get('certificates')?.items ?? [])
  const [first, ...others] = lists
  const [cert, key] = [first?.get('certFile'), first?.get('keyFile')]
  for (const each of [cert, key]) each?.carried('copy the file to this path, or change the path')
  for (const each of others) each.notCarried('configure a listener for each name of this certificate: docs/tls.md')
  const options = roots.flatMap((root) => root.get('tls')?.get('options')?.members ?? [])
  const clients = options.find(([name]) => name === 'default')?.[1].get('clientAuth') ?? null
  const files = textsOf(clients?.get('caFiles') ?? null)
  const isRequired = clients?.get('clientAuthType')?.text === 'RequireAndVerifyClientCert'
  if (isRequired) clients?.carried()
  else clients?.notCarried('configure the root of a listener: docs/tls.md', true)
  return {
    cert: cert?.text ?? 'certificates/default.pem',
    key: key?.text ?? 'certificates/default.key',
    root: isRequired ? (files[0] ?? 'missing-root.pem') : null,
  }
}

/** Sets notes on the sections of a file that are not imported. */
function noteSections(root: Field): void {
  for (const [name, note] of Object.entries(NOTES)) root.get(name)?.notCarried(note)
}

const NOTES: Readonly<Record<string, string>> = {
  tcp: 'configure TCP or TLS listeners: docs/tls.md',
  udp: 'configure UDP listeners: docs/udp.md',
  api: 'the gateway has an admin API: docs/admin-api.md',
  ping: 'the gateway has an admin API: docs/admin-api.md',
  metrics: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  accessLog: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  log: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  tracing: 'configure tracing in frontend.tracing: docs/tracing.md',
  certificatesResolvers: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
  providers: 'pass the files of the file provider to the import command',
  global: 'the section sets up the process of Traefik',
  experimental: 'the gateway has no plugins',
  serversTransport: 'configure a tls policy for backends: docs/policies/backend-tls.md',
}
