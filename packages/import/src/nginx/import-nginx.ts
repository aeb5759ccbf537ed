import type { FindIncluded, ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { behaviorOf } from './behavior.ts'
import { type Directive, Scope } from './directive.ts'
import { expandIncludes } from './includes.ts'
import { noteKnownDirectives } from './known-directives.ts'
import { portsOf, printBinds } from './listeners.ts'
import { parseNginx } from './parse.ts'
import { readRoutes } from './routes.ts'
import { readServer } from './servers.ts'
import { readUpstreams } from './upstreams.ts'

/** Imports configs of nginx: a whole `nginx.conf`, or files with `server` and `upstream` blocks. */
export function importNginx(sources: readonly SourceText[], find: FindIncluded): ImportResult {
  return problemsOf(() => importSources(sources, find))
}

function importSources(sources: readonly SourceText[], find: FindIncluded): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const { list, files } = expandIncludes(sources.flatMap(parseNginx), find)
  const blocks = list.filter(({ name, block }) => name === 'http' && block !== null)
  for (const each of blocks) each.carried()
  const inHttp: readonly Directive[] = blocks.length === 0 ? list : blocks.flatMap(({ block }) => block ?? [])
  const http = new Scope(inHttp)
  noteKnownDirectives(list)
  const upstreams = readUpstreams(inHttp)
  const servers = inHttp
    .filter(({ name, block }) => name === 'server' && block !== null)
    .map((directive) => ({ server: readServer(directive), routes: readRoutes({ server: directive, http, upstreams }) }))
  const ports = portsOf(servers)
  if (ports.length === 0) {
    throw new SourceError(
      { file: first.name, line: 1, column: 1 },
      'found no server that can be imported, expected server blocks',
    )
  }
  // Printing marks the certificates, so the report comes after it.
  const config = { binds: printBinds(ports, http) }
  const report = sortReport(
    list.flatMap((each) => each.reportOf()),
    [...sources.map(({ name }) => name), ...files],
  )
  return { config, report, behavior: behaviorOf(ports) }
}
