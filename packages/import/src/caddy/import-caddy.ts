import type { FindIncluded, ImportedConfig, ImportResult } from '../core/import-result.ts'
import { refuseAll, type ReportEntry, sortReport, type Verdict } from '../core/report.ts'
import { positionText, problemsOf, SourceError, type SourceText } from '../core/source.ts'
import type { Statement } from '../core/statement.ts'
import { behaviorOf } from '../http/behavior.ts'
import { type HttpPort, variablesOfHost } from '../http/model.ts'
import { printPorts } from '../http/print-ports.ts'
import type { ServerPorts } from './addresses.ts'
import { Environment } from './environment.ts'
import { expandImports } from './imports.ts'
import { limitsAccess, OPTION_NOTES } from './notes.ts'
import { directiveOrder } from './order.ts'
import { type DefaultUse, parseCaddyfile, withSites } from './parse.ts'
import { readPort, readSite, redirectRules, type Site } from './sites.ts'

/** Imports Caddyfiles. Several files are read as one. */
export function importCaddy(sources: readonly SourceText[], find: FindIncluded): ImportResult {
  return problemsOf(() => importSources(sources, find))
}

function importSources(sources: readonly SourceText[], find: FindIncluded): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const defaults: DefaultUse[] = []
  const {
    list: read,
    snippets,
    imports,
    files,
  } = expandImports(
    sources.flatMap((source) => parseCaddyfile(source, defaults)),
    find,
    defaults,
  )
  const list = withSites(read)
  const options = list
    .filter(({ name }) => name === '{')
    .flatMap((each) => {
      each.carried()
      return each.block ?? []
    })
  for (const option of options) noteOption(option)
  const ports = readPorts(options)
  const namedRoutes = new Map(
    list.flatMap((each) => {
      const name = /^&\((.+)\)$/.exec(each.name)?.[1]
      if (name === undefined) return []
      each.carried()
      return [[name, each] as const]
    }),
  )
  const sites = list
    .filter(({ name, block }) => name !== '{' && !name.startsWith('&(') && block !== null)
    .map((statement) => readSite(statement, ports))
  const env = new Environment()
  for (const { addresses } of sites) {
    for (const { host } of addresses) {
      for (const name of variablesOfHost(host ?? ''))
        env.use(name, `${name.toLowerCase().replaceAll(/_+/g, '-').replaceAll(/^-|-$/g, '')}.test`)
    }
  }
  const found = readAllPorts(sites, ports, { order: directiveOrder(options), env, namedRoutes })
  if (found.length === 0) {
    refuseAll(first, {
      what: 'site',
      expected: 'an address and a block',
      entries: sites.flatMap(({ statement }) => reportOf(statement)),
    })
  }
  const uses = defaults.map(({ name, at }): ReportEntry => ({
    ...{
      verdict: 'changed',
      at,
      name: `{$${name}}`,
      note: 'the importer used the default value of the variable',
      isProtection: false,
    },
  }))
  const report = sortReport(
    [...merged([...list, ...imports].flatMap(reportOf), snippets.flatMap(reportOf)), ...uses],
    [...sources.map(({ name }) => name), ...files],
  )
  return { config: { binds: printPorts(found) }, report, behavior: behaviorOf(found, env.values) }
}

function reportOf(statement: Statement): ReportEntry[] {
  return statement.reportOf(limitsAccess)
}

function noteOption(option: Statement): void {
  const note =
    OPTION_NOTES.get(option.name) ??
    (/acme|cert|ca|ocsp|renew/.test(option.name) ? OPTION_NOTES.get('email') : undefined)
  option.hint(note ?? 'the importer does not know this option')
  for (const each of option.block ?? []) each.hint('the option around this line is not carried')
}

function readPorts(options: readonly Statement[]): ServerPorts {
  const port = (name: string, standard: number): number => {
    const option = options.findLast((each) => each.name === name)
    const found = Number(option?.args[0])
    if (option === undefined || !(found >= 1 && found <= 65_535)) return standard
    option.carried()
    return found
  }
  const automatic = options.findLast(({ name }) => name === 'auto_https')
  automatic?.carried()
  const mode = automatic?.args[0] ?? ''
  return {
    ...{ http: port('http_port', 80), https: port('https_port', 443), isAutomatic: mode !== 'off' },
    redirects: mode !== 'off' && mode !== 'disable_redirects',
  }
}

function readAllPorts(sites: readonly Site[], ports: ServerPorts, context: Parameters<typeof readPort>[2]): HttpPort[] {
  const numbers = [...new Set(sites.flatMap(({ addresses }) => addresses.map(({ port }) => port)))]
  const found = numbers.map((port) =>
    readPort(
      port,
      sites.filter(({ addresses }) => addresses.some((each) => each.port === port)),
      context,
    ),
  )
  const redirects = ports.redirects ? redirectRules(sites, ports) : []
  if (redirects.length === 0) return found
  const plain = found.find(({ port }) => port === ports.http)
  if (plain !== undefined) {
    // Redirects come after sites with hosts, and before those for all hosts.
    const [own, rest] = [true, false].map((has) => plain.rules.filter(({ hosts }) => hosts.length > 0 === has))
    const rules = [...(own ?? []), ...redirects, ...(rest ?? [])]
    return found.map((each) => (each === plain ? { ...each, rules } : each))
  }
  return [...found, { port: ports.http, address: null, certificates: null, policies: {}, rules: redirects }]
}

const RANK: Readonly<Record<Verdict, number>> = { carried: 0, changed: 1, 'not carried': 2 }

/** Merges report entries with the same position, which are copies of one snippet: the worst verdict counts. */
function merged(used: readonly ReportEntry[], snippets: readonly ReportEntry[]): ReportEntry[] {
  const found = new Map<string, ReportEntry>()
  for (const entry of used) {
    const key = positionText(entry.at)
    const known = found.get(key)
    if (known === undefined || RANK[entry.verdict] > RANK[known.verdict]) found.set(key, entry)
  }
  for (const entry of snippets) if (!found.has(positionText(entry.at))) found.set(positionText(entry.at), entry)
  return [...found.values()]
}
